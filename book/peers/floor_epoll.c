/* The floor: an HTTP pong in one epoll loop that parses nothing. floor_epoll PORT */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static const char ANSWER[] = "HTTP/1.1 200 OK\r\nServer: x\r\nDate: Fri, 20 Nov 2026 22:33:00 GMT\r\n"
                             "Content-Type: text/plain\r\nContent-Length: 7\r\n\r\nPong!\r\n";
#define LENGTH (sizeof ANSWER - 1)

static void accept_all(int set, int listener) {
  int on = 1;
  for (;;) {
    int client = accept4(listener, 0, 0, SOCK_NONBLOCK);
    if (client < 0)
      return;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET | EPOLLRDHUP, .data.fd = client};
    epoll_ctl(set, EPOLL_CTL_ADD, client, &event);
  }
}

static void answer(int client) {
  static char input[65536], output[1 << 20];
  int got = recv(client, input, sizeof input, 0);
  if (got <= 0) {
    close(client);
    return;
  }
  int length = 0;
  for (char *at = input; (at = memmem(at, input + got - at, "\r\n\r\n", 4)); at += 4) {
    memcpy(output + length, ANSWER, LENGTH);
    length += LENGTH;
  }
  send(client, output, length, 0);
}

int main(int count, char **arguments) {
  if (count != 2)
    return 2;
  int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(atoi(arguments[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(listener, (void *)&address, sizeof address) || listen(listener, 4096))
    return 1;
  int set = epoll_create1(0);
  struct epoll_event events[512], event = {.events = EPOLLIN, .data.fd = listener};
  epoll_ctl(set, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    int ready = epoll_wait(set, events, 512, -1);
    for (int i = 0; i < ready; i++) {
      if (events[i].data.fd == listener)
        accept_all(set, listener);
      else
        answer(events[i].data.fd);
    }
  }
}
