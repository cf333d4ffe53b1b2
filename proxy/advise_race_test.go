package proxy_test

import (
	"sync"
	"testing"
)

// TestAdvertiseAtOnce: clients that connect, list, call and disconnect concurrently do not disturb
// each other, and the last one sees the correct list.
func TestAdvertiseAtOnce(t *testing.T) {
	s := start(t, narrow("require backup before delete\nlimit push to 20 per user\n"))
	var all sync.WaitGroup
	for range 8 {
		c := s.connect(legs()[1], "")
		all.Go(func() {
			defer c.close()
			for range 5 {
				c.list()
				c.do("backup", `{}`)
				c.do("delete", `{}`)
				c.do("push", `{}`)
			}
		})
	}
	all.Wait()
	c := s.connect(legs()[1], "")
	c.shows("backup", "delete", "push")
	s.executed("push", 20)
	if n := len(s.proxy.Sessions()); n != 1 {
		t.Errorf("%d sessions are left", n)
	}
}
