package proxy_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/pin"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/proxy"
)

// TestOwnCall: C023. The principal of a token cannot approve their own call under the same name:
// they are told so, it is recorded and in the history, and the question stays open for others, and
// for their own denial.
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

// TestPIN: with a PIN, an approval by a person at a terminal or a page counts only with it. A few
// wrong PINs block further attempts for a while. A denial needs no PIN.
func TestPIN(t *testing.T) {
	soak.Bulk(t)
	hash, err := pin.Hash("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	for _, channel := range []string{"cli", "web", "url"} {
		s := start(t, setup{change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"cli", channel}, Hold: atOnce, PIN: hash}
		}})
		c := s.connect(legs()[0], "")
		id := c.parked("deploy", `{}`)
		if a := s.pending(1)[0]; !a.PIN {
			t.Errorf("%s: nobody is told that the PIN is needed", channel)
		}
		_ = s.proxy.PutApproval(id, channel)
		say := func(typed string, grant *proxy.Grant) error {
			return s.proxy.Answer(id, proxy.Answer{Approve: true, Channel: channel, Person: "uid 1000", Actor: "ann", PIN: typed, Grant: grant})
		}
		if err := s.proxy.SwitchNet("approve-before-deploy", false, proxy.Actor{Name: "ann", PIN: "correct horse"}); err == nil || !strings.Contains(err.Error(), "no net is switched off") {
			t.Errorf("%s: the net that asks is switched off: %v", channel, err)
		}
		if err := say("", nil); !errors.Is(err, pin.ErrMissing) {
			t.Errorf("%s: without a PIN: %v", channel, err)
		}
		if err := say("wrong horse", &proxy.Grant{For: time.Minute}); !errors.Is(err, pin.ErrWrong) {
			t.Errorf("%s: a wrong PIN with a grant: %v", channel, err)
		}
		if !s.recordsHave(`"said":"approve","kind":"pin","channel":"` + channel + `","actor":"ann"`) {
			t.Errorf("%s: the wrong PIN is not on record", channel)
		}
		if s.recordsHave("horse") {
			t.Errorf("%s: what was typed is on record", channel)
		}
		s.executed("deploy", 0)
		if err := say("correct horse", nil); err != nil {
			t.Errorf("%s: %v", channel, err)
		}
		c.must("deploy", `{}`)
		id = c.parked("deploy", `{"n":2}`)
		_ = s.proxy.PutApproval(id, channel)
		for range 4 { // together with the one above
			if err := say("wrong horse", nil); !errors.Is(err, pin.ErrWrong) {
				t.Errorf("%s: %v", channel, err)
			}
		}
		if err := say("correct horse", nil); err == nil || !strings.Contains(err.Error(), "none counts for the next") {
			t.Errorf("%s: after five wrong ones: %v", channel, err)
		}
		if err := s.proxy.Answer(id, proxy.Answer{Channel: channel, Person: "uid 1000", Actor: "ann"}); err != nil {
			t.Errorf("%s: a denial: %v", channel, err)
		}
	}
	if _, err := proxy.New(proxy.Options{Approval: proxy.Approval{PIN: "1234"}}); err == nil {
		t.Error("a PIN in the clear is taken for its hash")
	}
}
