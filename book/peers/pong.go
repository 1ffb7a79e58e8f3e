// Pong. pong PORT
package main

import (
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Write([]byte("Pong!\r\n"))
	})
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
