// Node's client of the WebSocket of browsers: has the server echo messages of all sizes, and ends in order.
const socket = new WebSocket(process.argv[2], ["other", "echo"]);
socket.binaryType = "arraybuffer";

const messages = [];
for (const size of [0, 1, 125, 126, 127, 65535, 65536, 1000000]) {
  messages.push("ä".repeat(size / 2), new Uint8Array(size).fill(size));
}
let awaited = 0;

const fail = (why) => {
  console.error(why);
  process.exit(1);
};

const same = (a, b) =>
  typeof a === "string" ? a === b : Buffer.compare(Buffer.from(a), Buffer.from(b)) === 0;

socket.onopen = () => {
  if (socket.protocol !== "echo") fail(`subprotocol ${socket.protocol}`);
  if (socket.extensions !== "") fail(`extensions ${socket.extensions}`);
  for (const message of messages) socket.send(message);
};
socket.onmessage = ({ data }) => {
  if (!same(messages[awaited], data)) fail(`message ${awaited} came back as another`);
  awaited += 1;
  if (awaited === messages.length) socket.close(4000, "bye");
};
socket.onerror = (event) => fail(event.message ?? "an error");
socket.onclose = ({ code, wasClean }) => {
  if (awaited !== messages.length || !wasClean || code !== 4000) {
    fail(`ended with ${code} after ${awaited} messages`);
  }
  console.log("ok");
};
