// The other end of tests: gorilla/websocket as a client of thrum's server, or as a server for thrum's client.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

func main() {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "client":
		client(os.Args[2])
	case len(os.Args) == 2 && os.Args[1] == "server":
		server()
	default:
		log.Fatal("usage: peer client URL | peer server")
	}
}

// Has the server echo messages of all sizes, in fragments, with pings between, and ends in order.
func client(url string) {
	dialer := websocket.Dialer{
		Subprotocols:      []string{"other", "echo"},
		WriteBufferSize:   1024,
		EnableCompression: true,
	}
	connection, response, err := dialer.Dial(url, http.Header{"Origin": {"http://example.com"}})
	check(err)
	if connection.Subprotocol() != "echo" {
		log.Fatalf("subprotocol %q", connection.Subprotocol())
	}
	if extensions := response.Header.Get("Sec-WebSocket-Extensions"); extensions != "" {
		log.Fatalf("extensions %q", extensions)
	}
	check(connection.SetReadDeadline(time.Now().Add(30 * time.Second)))
	pongs := 0
	connection.SetPongHandler(func(payload string) error {
		if payload != "there?" {
			log.Fatalf("a pong %q", payload)
		}
		pongs++
		return nil
	})
	for _, size := range []int{0, 1, 125, 126, 127, 1023, 1024, 65535, 65536, 1000000} {
		for kind, unit := range map[int]string{websocket.TextMessage: "ä", websocket.BinaryMessage: "\xff\x00"} {
			message := []byte(strings.Repeat(unit, size/2))
			// What is beyond the write buffer goes out as a fragment.
			writer, err := connection.NextWriter(kind)
			check(err)
			for rest := message; len(rest) > 0; {
				part := rest[:min(len(rest), 100000)]
				rest = rest[len(part):]
				_, err := writer.Write(part)
				check(err)
				check(connection.WriteControl(websocket.PingMessage, []byte("there?"), time.Now().Add(time.Second)))
			}
			check(writer.Close())
			answerKind, answer, err := connection.ReadMessage()
			check(err)
			if answerKind != kind || !bytes.Equal(answer, message) {
				log.Fatalf("%d bytes of kind %d came back as %d of kind %d", len(message), kind, len(answer), answerKind)
			}
		}
	}
	if pongs == 0 {
		log.Fatal("no ping was answered")
	}
	bye := websocket.FormatCloseMessage(websocket.CloseGoingAway, "bye")
	check(connection.WriteMessage(websocket.CloseMessage, bye))
	_, _, err = connection.ReadMessage()
	if !websocket.IsCloseError(err, websocket.CloseGoingAway) {
		log.Fatalf("ended with %v", err)
	}
	fmt.Println("ok")
}

// Echoes with pings between, until it is told "end"; prints its address first.
func server() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr())
	upgrader := websocket.Upgrader{Subprotocols: []string{"echo"}, WriteBufferSize: 1024, EnableCompression: true}
	check(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connection, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer connection.Close()
		pongs := 0
		connection.SetPongHandler(func(string) error { pongs++; return nil })
		for {
			kind, message, err := connection.ReadMessage()
			var closed *websocket.CloseError
			if errors.As(err, &closed) || errors.Is(err, io.EOF) {
				return
			}
			check(err)
			if string(message) == "end" {
				reason := fmt.Sprintf("%t", pongs > 0)
				check(connection.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(4000, reason)))
				continue
			}
			check(connection.WriteControl(websocket.PingMessage, []byte("there?"), time.Now().Add(time.Second)))
			writer, err := connection.NextWriter(kind)
			check(err)
			_, err = io.Copy(writer, bytes.NewReader(message))
			check(err)
			check(writer.Close())
		}
	})))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}
