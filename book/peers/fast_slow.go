// A fast route and a slow one. fast_slow PORT
package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
)

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Write([]byte("Pong!\r\n"))
	})
	http.HandleFunc("/fib/", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/fib/"))
		fmt.Fprintln(w, fib(n))
	})
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
