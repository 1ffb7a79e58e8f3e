// A fast route and a slow one. node fast_slow.js PORT
const http = require("http");

function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

http
  .createServer((request, response) => {
    if (request.url.startsWith("/fib/")) {
      response.end(fib(Number(request.url.slice(5))) + "\n");
      return;
    }
    response.setHeader("Content-Type", "text/plain");
    response.end("Pong!\r\n");
  })
  .listen(Number(process.argv[2]), "127.0.0.1");
