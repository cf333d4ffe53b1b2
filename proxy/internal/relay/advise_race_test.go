package relay_test

import (
	"sync"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
)

// TestAdvertiseAtOnce: clients that connect, list, call and disconnect concurrently do not disturb
// each other, and the last one sees the correct list.
func TestAdvertiseAtOnce(t *testing.T) {
	s := proxytest.Start(t, narrow("require backup before delete\nlimit push to 20 per user\n"))
	var all sync.WaitGroup
	for range 8 {
		c := s.Connect(proxytest.Legs()[1], "")
		all.Go(func() {
			defer c.Close()
			for range 5 {
				c.List()
				c.Do("backup", `{}`)
				c.Do("delete", `{}`)
				c.Do("push", `{}`)
			}
		})
	}
	all.Wait()
	c := s.Connect(proxytest.Legs()[1], "")
	shows(c, "backup", "delete", "push")
	s.Executed("push", 20)
	if n := len(s.Proxy.Sessions()); n != 1 {
		t.Errorf("%d sessions are left", n)
	}
}
