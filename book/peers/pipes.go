// M one-byte messages through N pipes, a reader and a writer goroutine each. pipes N M
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

func main() {
	pipes, _ := strconv.Atoi(os.Args[1])
	messages, _ := strconv.Atoi(os.Args[2])
	each := messages / pipes
	readers, writers := make([]*os.File, pipes), make([]*os.File, pipes)
	for i := range readers {
		var err error
		if readers[i], writers[i], err = os.Pipe(); err != nil {
			panic(err)
		}
	}
	begin := time.Now()
	var done sync.WaitGroup
	done.Add(pipes)
	for i := range readers {
		go func() {
			message := []byte("x")
			for j := 0; j < each; j++ {
				writers[i].Write(message)
			}
		}()
		go func() {
			message := make([]byte, 1)
			for j := 0; j < each; j++ {
				readers[i].Read(message)
			}
			done.Done()
		}()
	}
	done.Wait()
	fmt.Printf("%.3f s\n", time.Since(begin).Seconds())
}
