/* Connects over TLS 1.3, asks once, reads the answer and closes, over and over. handshakes PORT SECONDS THREADS new|resumed
   What was negotiated is printed; a handshake that should have been resumed and was not ends the program with an error. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char REQUEST[] = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
static const char BODY[] = "Pong!\r\n";

static int port, resume;
static double end;

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec + at.tv_nsec / 1e9;
}

static void fail(const char *what) {
  fprintf(stderr, "handshakes: %s\n", what);
  ERR_print_errors_fp(stderr);
  exit(1);
}

/* A client keeps the newest ticket only: each may be used once. */
static int keep(SSL *ssl, SSL_SESSION *session) {
  SSL_SESSION **kept = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
  SSL_SESSION_free(*kept);
  *kept = session;
  return 1;
}

static SSL_CTX *context(SSL_SESSION **kept) {
  static const unsigned char HTTP1[] = "\x08http/1.1";
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256");
  SSL_CTX_set1_groups_list(context, "X25519");
  SSL_CTX_set_alpn_protos(context, HTTP1, sizeof HTTP1 - 1);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_set_app_data(context, kept);
  SSL_CTX_sess_set_new_cb(context, keep);
  return context;
}

/* The whole answer has come, and it is the right one. */
static void ask(SSL *ssl) {
  char answer[4096];
  size_t got = 0;
  if (SSL_write(ssl, REQUEST, sizeof REQUEST - 1) <= 0)
    fail("cannot write");
  while (!memmem(answer, got, BODY, sizeof BODY - 1)) {
    int more = SSL_read(ssl, answer + got, sizeof answer - got);
    if (more <= 0)
      fail("cannot read");
    got += more;
  }
  if (memcmp(answer, "HTTP/1.1 200", 12))
    fail("not answered with 200");
}

static void negotiated(SSL *ssl) {
  char key[64] = "none";
  EVP_PKEY *public = X509_get0_pubkey(SSL_get0_peer_certificate(ssl));
  EVP_PKEY_get_group_name(public, key, sizeof key, NULL);
  printf("negotiated %s %s %s, key %s\n", SSL_get_version(ssl), SSL_get_cipher_name(ssl),
         SSL_group_to_name(ssl, SSL_get_negotiated_group(ssl)), key);
}

static void *client(void *first) {
  SSL_SESSION *session = NULL;
  SSL_CTX *settings = context(&session);
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  long count = 0;
  do {
    int on = 1, stream = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(stream, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(stream, (void *)&address, sizeof address))
      fail("cannot connect");
    SSL *ssl = SSL_new(settings);
    SSL_set_fd(ssl, stream);
    if (resume && session)
      SSL_set_session(ssl, session);
    if (SSL_connect(ssl) != 1)
      fail("no handshake");
    if (SSL_session_reused(ssl) != (resume && count > 0))
      fail("resumed when it should not be, or the other way round");
    ask(ssl);
    if (first && count == 0)
      negotiated(ssl);
    SSL_shutdown(ssl);
    SSL_free(ssl);
    close(stream);
    count++;
  } while (now() < end);
  return (void *)count;
}

int main(int count, char **arguments) {
  if (count != 5)
    return 2;
  port = atoi(arguments[1]);
  int threads = atoi(arguments[3]);
  resume = !strcmp(arguments[4], "resumed");
  double begin = now();
  end = begin + atof(arguments[2]);
  pthread_t clients[threads];
  for (int i = 0; i < threads; i++)
    pthread_create(&clients[i], NULL, client, i == 0 ? &clients[0] : NULL);
  long handshakes = 0;
  for (int i = 0; i < threads; i++) {
    void *done;
    pthread_join(clients[i], &done);
    handshakes += (long)done;
  }
  printf("handshakes %ld\nhandshakes a second %.0f\n", handshakes, handshakes / (now() - begin));
}
