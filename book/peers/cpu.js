// Two things, one after the other and then at once: each computes fib(N), or asks for a URL. node cpu.js N|URL
const what = process.argv[2];

function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

async function work() {
  if (!what.startsWith("http")) return fib(Number(what));
  const answer = await fetch(what);
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
  return answer.text();
}

async function main() {
  let begin = performance.now();
  await work();
  await work();
  const inTurn = (performance.now() - begin) / 1000;

  begin = performance.now();
  await Promise.all([work(), work()]);
  const atOnce = (performance.now() - begin) / 1000;

  console.log(`one after the other ${inTurn.toFixed(3)} s`);
  console.log(`at once ${atOnce.toFixed(3)} s`);
  console.log(`ratio ${(atOnce / inTurn).toFixed(3)}`);
}

main();
