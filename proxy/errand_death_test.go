//go:build unix

package proxy_test

import (
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/petrigate/petrigate/proxy"
)

// TestErrandOfTheDead: nobody comes back for what a server asked that has ended.
// Its client is told, and the server that is started anew knows of nothing.
func TestErrandOfTheDead(t *testing.T) {
	t.Parallel()
	for _, isolation := range []string{proxy.IsolateShared, proxy.IsolateSession} {
		legacyLegs(t, func(t *testing.T, l leg) {
			s := isolating(t, isolation, nil)
			c := s.connect(l, makesErrands)
			c.listenToPushes()
			id, over := c.begins("mine"), c.begins("over")
			call := c.put("tasks/get", `{"taskId":"`+over+`"}`)
			c.respond(c.questioned("tasks/get").id, shown("over", "completed"))
			c.heard(call)
			call = c.put("tasks/result", `{"taskId":"`+id+`"}`)
			q := c.questioned("tasks/result")
			pid, err := strconv.Atoi(c.pid())
			if err != nil || syscall.Kill(pid, syscall.SIGKILL) != nil {
				t.Fatal(err)
			}
			c.reply(call)
			withdrawn := c.questioned("notifications/cancelled")
			if at(withdrawn.params, "requestId") != q.id {
				t.Errorf("%s", withdrawn.raw)
			}
			ended := c.questioned("tasks/cancel")
			differ(t, "end", string(ended.params), `{"taskId":"mine"}`)
			c.respond(ended.id, shown("mine", "cancelled")) // which nobody waits for
			s.eventually("it runs again", func() bool {
				return !strings.Contains(string(c.do("count", `{}`).raw), "not running")
			})
			for _, name := range []string{id, over, "mine"} {
				c.refusesErrand(name, "-32602")
			}
			c.send([]byte(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":`+shown("mine", "completed")+`}`), nil)
			c.begins("mine") // the name is free
			c.unasked("tasks/cancel")
		})
	}
}
