// Two things, one after the other and then at once: each computes fib(N), or asks for a URL. cpu N|URL
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func ask(url string) {
	answer, err := http.Get(url)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		panic(answer.Status)
	}
	io.Copy(io.Discard, answer.Body)
}

func main() {
	work := func() { ask(os.Args[1]) }
	if n, err := strconv.Atoi(os.Args[1]); err == nil {
		work = func() { fib(n) }
	}

	begin := time.Now()
	work()
	work()
	inTurn := time.Since(begin).Seconds()

	begin = time.Now()
	var both sync.WaitGroup
	for i := 0; i < 2; i++ {
		both.Add(1)
		go func() {
			work()
			both.Done()
		}()
	}
	both.Wait()
	atOnce := time.Since(begin).Seconds()

	fmt.Printf("one after the other %.3f s\n", inTurn)
	fmt.Printf("at once %.3f s\n", atOnce)
	fmt.Printf("ratio %.3f\n", atOnce/inTurn)
}
