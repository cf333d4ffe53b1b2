package pipeline_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/pin"
	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/proxy"
)

// TestOwnCall: C023. The principal of a token cannot approve their own call under the same name:
// they are told so, it is recorded and in the history, and the question stays open for others, and
// for their own denial.
func TestOwnCall(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		if !l.HTTP {
			return
		}
		for _, self := range []bool{false, true} {
			s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
				o.Approval = proxy.Approval{Channels: []string{"cli"}, Hold: proxytest.ParkAtOnce, Self: self, People: map[string]string{"uid 1001": "token:ann"}}
			}})
			s.ServeWith(proxy.Access{Tokens: map[string]string{"ann": "token of ann"}})
			c := s.UnconnectedClient(l)
			if c.Bearer = "token of ann"; !l.Modern {
				c.Initialize()
			}
			id := c.Parks("deploy", `{}`)
			if self {
				if err := s.Proxy.ResolveAs("uid 1000", id, true, "ann", ""); err != nil {
					t.Error(err)
				}
				continue
			}
			for _, err := range []error{
				s.Proxy.ResolveAs("uid 1000", id, true, "ann", ""),
				s.Proxy.ResolveAs("uid 1001", id, true, "root", ""),
				s.Proxy.Answer(id, proxy.Answer{Approve: true, Channel: proxy.ChannelCLI, Actor: "ann", Grant: &proxy.Grant{For: 1}}),
			} {
				if err == nil {
					t.Error("the requester has approved")
				}
			}
			a := s.AwaitPending(1)[0]
			if n := len(a.Rejections); n < 2 || a.Rejections[0].String() != "of whoever makes the call: approved by ann via cli" {
				t.Errorf("%+v", a.Rejections)
			}
			if !s.RecordsHave(`"approval":"` + id + `","said":"approve","kind":"own","channel":"cli","actor":"root"`) {
				t.Error("it is not on record")
			}
			if err := s.Proxy.ResolveAs("uid 1000", id, true, "ann", ""); err == nil || !strings.Contains(err.Error(), "token:ann") {
				t.Error(err)
			}
			s.Executed("deploy", 0)
			if err := s.Proxy.ResolveAs("uid 1002", id, true, "bob", ""); err != nil {
				t.Fatal(err)
			}
			c.Must("deploy", `{}`)
			id = c.Parks("deploy", `{"n":2}`)
			if err := s.Proxy.ResolveAs("uid 1000", id, false, "ann", ""); err != nil {
				t.Errorf("a denial of the requester: %v", err)
			}
		}
	})
}

// TestPIN: with a PIN, an approval by a person at a terminal or a page counts only with it. A few
// wrong PINs block further attempts for a while. A denial needs no PIN.
func TestPIN(t *testing.T) {
	soak.Bulk(t)
	for _, channel := range []string{"cli", "web", "url"} {
		s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"cli", channel}, Hold: proxytest.ParkAtOnce, PIN: proxytest.PINHash}
		}})
		c := s.Connect(proxytest.Legs()[0], "")
		id := c.Parks("deploy", `{}`)
		if a := s.AwaitPending(1)[0]; !a.PIN {
			t.Errorf("%s: nobody is told that the PIN is needed", channel)
		}
		_ = s.Proxy.PutApproval(id, channel)
		say := func(typed string, grant *proxy.Grant) error {
			return s.Proxy.Answer(id, proxy.Answer{Approve: true, Channel: channel, Person: "uid 1000", Actor: "ann", PIN: typed, Grant: grant})
		}
		if err := s.Proxy.SwitchNet("approve-before-deploy", false, proxy.Actor{Name: "ann", PIN: "correct horse"}); err == nil || !strings.Contains(err.Error(), "no net can be switched off") {
			t.Errorf("%s: the net that asks is switched off: %v", channel, err)
		}
		if err := say("", nil); !errors.Is(err, pin.ErrMissing) {
			t.Errorf("%s: without a PIN: %v", channel, err)
		}
		if err := say("wrong horse", &proxy.Grant{For: time.Minute}); !errors.Is(err, pin.ErrWrong) {
			t.Errorf("%s: a wrong PIN with a grant: %v", channel, err)
		}
		if !s.RecordsHave(`"said":"approve","kind":"pin","channel":"` + channel + `","actor":"ann"`) {
			t.Errorf("%s: the wrong PIN is not on record", channel)
		}
		if s.RecordsHave("horse") {
			t.Errorf("%s: what was typed is on record", channel)
		}
		s.Executed("deploy", 0)
		if err := say("correct horse", nil); err != nil {
			t.Errorf("%s: %v", channel, err)
		}
		c.Must("deploy", `{}`)
		id = c.Parks("deploy", `{"n":2}`)
		_ = s.Proxy.PutApproval(id, channel)
		for range 4 { // together with the one above
			if err := say("wrong horse", nil); !errors.Is(err, pin.ErrWrong) {
				t.Errorf("%s: %v", channel, err)
			}
		}
		if err := say("correct horse", nil); err == nil || !strings.Contains(err.Error(), "no PIN is accepted for the next") {
			t.Errorf("%s: after five wrong ones: %v", channel, err)
		}
		if err := s.Proxy.Answer(id, proxy.Answer{Channel: channel, Person: "uid 1000", Actor: "ann"}); err != nil {
			t.Errorf("%s: a denial: %v", channel, err)
		}
	}
	if _, err := proxy.New(proxy.Options{Approval: proxy.Approval{PIN: "1234"}}); err == nil {
		t.Error("a PIN in the clear is taken for its hash")
	}
}
