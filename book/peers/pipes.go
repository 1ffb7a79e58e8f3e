// M one-byte messages through N pipes, a reader and a writer goroutine each, each read within SECONDS if that is given.
// pipes N M [SECONDS]
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
	seconds := 0
	if len(os.Args) > 3 {
		seconds, _ = strconv.Atoi(os.Args[3])
	}
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
		i := i
		go func() {
			message := []byte("x")
			for j := 0; j < each; j++ {
				writers[i].Write(message)
			}
		}()
		go func() {
			message := make([]byte, 1)
			for j := 0; j < each; j++ {
				if seconds > 0 {
					readers[i].SetReadDeadline(time.Now().Add(time.Duration(seconds) * time.Second))
				}
				readers[i].Read(message)
			}
			done.Done()
		}()
	}
	done.Wait()
	fmt.Printf("%.3f s\n", time.Since(begin).Seconds())
}
