// N goroutines that each wait for a start and a stop. spawn N
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	start, stop, done := make([]chan struct{}, n), make([]chan struct{}, n), make(chan struct{}, n)
	for i := range start {
		start[i], stop[i] = make(chan struct{}, 1), make(chan struct{}, 1)
		go func(i int) {
			<-start[i]
			<-stop[i]
			done <- struct{}{}
		}(i)
	}
	fmt.Println("Created", n)
	for i := range start {
		start[i] <- struct{}{}
	}
	time.Sleep(3 * time.Second)
	for i := range stop {
		stop[i] <- struct{}{}
	}
	for range stop {
		<-done
	}
	fmt.Println("Destroyed", n)
}
