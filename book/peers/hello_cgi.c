/* The smallest CGI program that says something. */
#include <stdio.h>

int main(void) {
    fputs("Content-Type: text/plain\r\n\r\nHello\n", stdout);
    return 0;
}
