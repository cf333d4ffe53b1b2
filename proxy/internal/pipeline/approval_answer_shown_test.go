package pipeline_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

// TestAnswerToAnotherText: C021. An answer given for another text than that of the approval does
// not count; one given for that text does.
func TestAnswerToAnotherText(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
		o.Approval = proxy.Approval{Channels: []string{"cli"}, Hold: proxytest.ParkAtOnce}
	}})
	c := s.Connect(proxytest.Legs()[0], "")
	c.Do("deploy", `{"n":1}`)
	c.Do("deploy", `{"n":2}`)
	all := s.AwaitPending(2)
	one, other := wholeApproval(s, all[0].ID), wholeApproval(s, all[1].ID)
	if one.Shown == "" || one.Shown == other.Shown || all[0].Shown != "" {
		t.Fatalf("%q, %q, in a list %q", one.Shown, other.Shown, all[0].Shown)
	}
	for _, approve := range []bool{true, false} {
		err := s.Proxy.Answer(one.ID, proxy.Answer{Approve: approve, Channel: proxy.ChannelCLI, Person: "ada", Actor: "ada", Shown: other.Shown})
		if err == nil || !strings.Contains(err.Error(), "has changed since it was shown, so it was not answered") {
			t.Errorf("got %v", err)
		}
	}
	s.AwaitPending(2)
	if err := s.Proxy.Answer(one.ID, proxy.Answer{Approve: true, Channel: proxy.ChannelCLI, Person: "ada", Actor: "ada", Shown: one.Shown}); err != nil {
		t.Error(err)
	}
	if err := s.Proxy.Answer(one.ID, proxy.Answer{Channel: proxy.ChannelCLI, Shown: other.Shown}); err == nil || !strings.Contains(err.Error(), "is already approved") {
		t.Errorf("got %v", err)
	}
	if a := wholeApproval(s, one.ID); a.Shown != one.Shown || a.Answered.IsZero() || a.Client != "tester 1" {
		t.Errorf("%+v", a)
	}
}

// wholeApproval is an approval with its text.
func wholeApproval(s *proxytest.Site, id string) proxy.ApprovalInfo {
	s.T.Helper()
	a, err := s.Proxy.Approval(id)
	if err != nil {
		s.T.Fatal(err)
	}
	return a
}
