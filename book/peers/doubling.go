// Doubles numbers, a line each; `end` closes. doubling PORT
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		panic(err)
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		go serve(connection)
	}
}

func serve(connection net.Conn) {
	defer connection.Close()
	reader, writer := bufio.NewReader(connection), bufio.NewWriter(connection)
	defer writer.Flush()
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "end" {
			fmt.Fprintln(writer, "Thank you")
			return
		}
		if number, err := strconv.ParseInt(line, 10, 64); err == nil {
			writer.WriteString(strconv.FormatInt(2*number, 10))
			writer.WriteByte('\n')
		} else {
			fmt.Fprintf(writer, "not an integer: %s\n", line)
		}
		// Lines that have come together are answered together.
		if reader.Buffered() == 0 {
			writer.Flush()
		}
	}
}
