// A Redis in memory for Argo CD, which keeps only caches in it. The argument is its address.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "Usage: redis ADDRESS")
		os.Exit(2)
	}
	server := miniredis.NewMiniRedis()
	if err := server.StartAddr(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer server.Close()

	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM)
	// miniredis expires keys only when its clock is advanced.
	second := time.NewTicker(time.Second)
	for {
		select {
		case <-second.C:
			server.FastForward(time.Second)
		case <-ended:
			return
		}
	}
}
