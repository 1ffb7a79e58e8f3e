// The doubling server in N processes, which share its port. node doubling_cluster.js PORT N
const cluster = require("cluster");

if (cluster.isPrimary) {
  for (let i = 0; i < Number(process.argv[3]); i++) cluster.fork();
} else {
  require("./doubling.js");
}
