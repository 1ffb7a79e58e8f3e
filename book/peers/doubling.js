// Doubles numbers, a line each; `end` closes. node doubling.js PORT
const net = require("net");

net
  .createServer((connection) => {
    let rest = "";
    connection.on("data", (data) => {
      const lines = (rest + data).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        if (line === "end") {
          connection.end("Thank you\n");
          return;
        }
        const number = parseInt(line);
        connection.write(isNaN(number) ? `not an integer: ${line}\n` : `${2 * number}\n`);
      }
    });
    connection.on("error", () => {});
  })
  .listen(Number(process.argv[2]), "127.0.0.1");
