//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "chaos: reads /proc, and so needs Linux")
	os.Exit(2)
}
