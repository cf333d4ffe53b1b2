package journal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/soak"
)

// TestProcessLockIsFair checks that no process starves if several processes write to the same log
// as fast as they can. Each process must get at least a quarter of its fair share.
func TestProcessLockIsFair(t *testing.T) {
	t.Parallel()
	if soak.Race {
		t.Skip("shares say nothing under the race detector, which makes turns uneven")
	}
	for _, processes := range []int{2, 3} {
		t.Run(strconv.Itoa(processes), func(t *testing.T) { fairly(t, processes) })
	}
}

func fairly(t *testing.T, processes int) {
	const enough = 9000
	path := place(t)
	var all []*child
	for range processes {
		c := start(t, "fair", path)
		if got := c.read(); got != "ready" {
			t.Fatal(got)
		}
		all = append(all, c)
	}
	for _, c := range all {
		fmt.Fprintln(c.in)
	}
	first := make(chan struct{}, processes)
	counts := make([]int, processes)
	var wait sync.WaitGroup
	for i, c := range all {
		wait.Go(func() {
			for line := c.read(); line != ""; line = c.read() {
				if counts[i], _ = strconv.Atoi(line); counts[i] >= enough {
					break
				}
			}
			first <- struct{}{} // the process has made enough steps, or has ended
		})
	}
	<-first
	for _, c := range all {
		_ = c.in.Close()
	}
	wait.Wait()
	sum := 0
	for i, c := range all {
		c.end(t)
		sum += counts[i]
	}
	t.Log(counts)
	for _, n := range counts {
		if n < sum/processes/4 {
			t.Errorf("a process has %d steps of %d", n, sum)
		}
	}
}

// fair is the role of a process that commits steps in 16 sessions until its input ends. After each
// commit, it prints the number of its steps.
func fair(path string) error {
	b, err := Open(context.Background(), Options{Path: path})
	if err != nil {
		return err
	}
	in := bufio.NewReader(os.Stdin)
	fmt.Println("ready")
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	over := make(chan struct{})
	go func() {
		_, _ = in.ReadString('\n')
		close(over)
	}()
	versions := make([]int64, 16)
	for n := 0; ; {
		select {
		case <-over:
			return b.Close()
		default:
		}
		var ops []*backend.Op
		for i := range versions {
			ops = append(ops, sample(b.Writer()+strconv.Itoa(i), versions[i]))
			versions[i]++
		}
		if err := commit(context.Background(), b, ops...); err != nil {
			return errors.Join(err, b.Close())
		}
		n += len(ops)
		fmt.Println(n)
	}
}
