package proxy_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/proxy"
)

// TestAnswerToAnotherText: C021. An answer given for another text than that of the approval does
// not count; one given for that text does.
func TestAnswerToAnotherText(t *testing.T) {
	s := start(t, setup{change: func(o *proxy.Options) {
		o.Approval = proxy.Approval{Channels: []string{"cli"}, Hold: atOnce}
	}})
	c := s.connect(legs()[0], "")
	c.do("deploy", `{"n":1}`)
	c.do("deploy", `{"n":2}`)
	all := s.pending(2)
	one, other := s.whole(all[0].ID), s.whole(all[1].ID)
	if one.Shown == "" || one.Shown == other.Shown || all[0].Shown != "" {
		t.Fatalf("%q, %q, in a list %q", one.Shown, other.Shown, all[0].Shown)
	}
	for _, approve := range []bool{true, false} {
		err := s.proxy.Answer(one.ID, proxy.Answer{Approve: approve, Channel: proxy.ChannelCLI, Person: "ada", Actor: "ada", Shown: other.Shown})
		if err == nil || !strings.Contains(err.Error(), "is not what was shown any more, so it was not answered") {
			t.Errorf("got %v", err)
		}
	}
	s.pending(2)
	if err := s.proxy.Answer(one.ID, proxy.Answer{Approve: true, Channel: proxy.ChannelCLI, Person: "ada", Actor: "ada", Shown: one.Shown}); err != nil {
		t.Error(err)
	}
	if err := s.proxy.Answer(one.ID, proxy.Answer{Channel: proxy.ChannelCLI, Shown: other.Shown}); err == nil || !strings.Contains(err.Error(), "is already approved") {
		t.Errorf("got %v", err)
	}
	if a := s.whole(one.ID); a.Shown != one.Shown || a.Answered.IsZero() || a.Client != "tester 1" {
		t.Errorf("%+v", a)
	}
}

// whole is an approval with its text.
func (s *site) whole(id string) proxy.ApprovalInfo {
	s.t.Helper()
	a, err := s.proxy.Approval(id)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}
