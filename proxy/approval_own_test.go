package proxy_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/proxy"
)

// TestOwnCall: C023. The principal of a token cannot approve their own call under the same
// name: they are told, it is on record and in the history, and the question stays open for
// others, and for their own denial.
func TestOwnCall(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		if !l.http {
			return
		}
		for _, self := range []bool{false, true} {
			s := start(t, setup{change: func(o *proxy.Options) {
				o.Approval = proxy.Approval{Channels: []string{"cli"}, Hold: atOnce, Self: self, People: map[string]string{"uid 1001": "token:ann"}}
			}})
			s.door(proxy.Access{Tokens: map[string]string{"ann": "token of ann"}})
			c := s.unconnected(l)
			if c.bearer = "token of ann"; !l.modern {
				c.initialize()
			}
			id := c.parked("deploy", `{}`)
			if self {
				if err := s.proxy.ResolveAs("uid 1000", id, true, "ann", ""); err != nil {
					t.Error(err)
				}
				continue
			}
			for _, err := range []error{
				s.proxy.ResolveAs("uid 1000", id, true, "ann", ""),
				s.proxy.ResolveAs("uid 1001", id, true, "root", ""),
				s.proxy.Answer(id, proxy.Answer{Approve: true, Channel: proxy.ChannelCLI, Actor: "ann", Grant: &proxy.Grant{For: 1}}),
			} {
				if err == nil {
					t.Error("the requester has approved")
				}
			}
			a := s.pending(1)[0]
			if n := len(a.Rejections); n < 2 || a.Rejections[0].String() != "of whoever makes the call: approved by ann via cli" {
				t.Errorf("%+v", a.Rejections)
			}
			if !s.recordsHave(`"approval":"` + id + `","said":"approve","kind":"own","channel":"cli","actor":"root"`) {
				t.Error("it is not on record")
			}
			if err := s.proxy.ResolveAs("uid 1000", id, true, "ann", ""); err == nil || !strings.Contains(err.Error(), "token:ann") {
				t.Error(err)
			}
			s.executed("deploy", 0)
			if err := s.proxy.ResolveAs("uid 1002", id, true, "bob", ""); err != nil {
				t.Fatal(err)
			}
			c.must("deploy", `{}`)
			id = c.parked("deploy", `{"n":2}`)
			if err := s.proxy.ResolveAs("uid 1000", id, false, "ann", ""); err != nil {
				t.Errorf("a denial of the requester: %v", err)
			}
		}
	})
}
