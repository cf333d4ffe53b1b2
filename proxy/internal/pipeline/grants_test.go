package pipeline_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

// granted is a site whose first call of deploy is approved with a grant for calls with the same
// env, and the recorded answers.
func granted(t *testing.T, l proxytest.Leg) (*proxytest.Site, *proxytest.Client, proxy.GrantInfo, func() []proxy.ApprovalInfo) {
	var mu sync.Mutex
	var told []proxy.ApprovalInfo
	s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
		o.Approval = proxy.Approval{Channels: []string{"elicit", "cli"}, Hold: proxytest.ParkAtOnce, Grants: 10 * time.Minute, Answered: func(a proxy.ApprovalInfo) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, a)
		}}
	}})
	c := s.Connect(l, "")
	c.Parks("deploy", `{"env":"staging","n":1}`)
	err := s.Proxy.Answer(s.AwaitPending(1)[0].ID, proxy.Answer{
		Approve: true, Channel: proxy.ChannelCLI, Person: "ada", Actor: "ada", Grant: &proxy.Grant{For: 5 * time.Minute, Like: []string{"env"}},
	})
	all := s.Proxy.Grants()
	if err != nil || len(all) != 1 {
		t.Fatal(err, all)
	}
	c.Must("deploy", `{"env":"staging","n":1}`)
	return s, c, all[0], func() []proxy.ApprovalInfo {
		mu.Lock()
		defer mu.Unlock()
		return told
	}
}

// TestGrant: calls like one that was approved with a grant pass without a question, each on record,
// until the grant is revoked; other calls are asked about.
func TestGrant(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s, c, g, told := granted(t, l)
		r := c.Reply(c.CallWith("deploy", `{"env":"staging","n":2}`, `"secret":"unseen"`, ""))
		if r.Result == nil || r.IsError() {
			t.Fatalf("%s", r.Raw)
		}
		s.Executed("deploy", 2)
		if got := told(); len(got) != 2 || got[1].Actor != "ada (grant "+g.ID+")" || got[1].Channel != "cli" || got[1].State != proxy.Approved {
			t.Errorf("told %+v", got)
		}
		for _, args := range []string{`{"env":"prod","n":2}`, `{"env":"staging","n":2,"force":true}`, `{"env":"staging"}`} {
			c.Parks("deploy", args)
		}
		s.Executed("deploy", 2)
		s.AwaitPending(3)
		if all := s.Proxy.Grants(); len(all) != 1 || all[0].Uses != 1 || all[0].Like[0] != (proxy.GrantPin{Field: "env", Value: `"staging"`}) || all[0].Tool != "deploy" {
			t.Errorf("%+v", all)
		}
		if err := s.Proxy.Revoke(g.ID, "bob"); err != nil {
			t.Fatal(err)
		}
		c.Parks("deploy", `{"env":"staging","n":3}`)
		s.AwaitPending(4)
		s.Executed("deploy", 2)
		if err := s.Proxy.Revoke(g.ID, "bob"); err == nil {
			t.Error("it is revoked twice")
		}
		for _, want := range []string{
			`"event":"grant","session":"` + g.Session + `","actor":"ada","reason":"` + g.ID + `: deploy on up with the same env, until `, `"event":"revoke","session":"` + g.Session + `","actor":"bob","reason":"` + g.ID + `"`,
			`"channel":"cli","actor":"ada (grant ` + g.ID + `)"`,
		} {
			if !s.RecordsHave(want) {
				t.Errorf("not on record: %s", want)
			}
		}
	})
}

// TestGrantOfSession: a grant for the session ends with it, and so do unanswered questions.
func TestGrantOfSession(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		if l.HTTP && l.Modern {
			return // its session is that of the principal and does not end
		}
		s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"cli"}, Hold: proxytest.ParkAtOnce, Grants: time.Hour}
		}})
		c := s.Connect(l, "")
		id := c.Parks("deploy", `{"n":1}`)
		err := s.Proxy.Answer(id, proxy.Answer{Approve: true, Channel: proxy.ChannelCLI, Actor: "ada", Grant: &proxy.Grant{Session: true}})
		if err != nil {
			t.Fatal(err)
		}
		c.Must("deploy", `{"n":1}`)
		c.Must("deploy", `{ "n":1}`)
		if all := s.Proxy.Grants(); len(all) != 1 || !all[0].ToEnd || all[0].Uses != 1 {
			t.Errorf("%+v", all)
		}
		waiting := c.Parks("deploy", `{"n":2}`)
		c.Close()
		s.Eventually("the grant ends with its session", func() bool { return len(s.Proxy.Grants()) == 0 })
		s.Eventually("so does what it asks", func() bool { return s.Proxy.ApprovalState(waiting) == proxy.Withdrawn })
	})
}

// TestGrantForwards: members that no person was shown are not forwarded.
func TestGrantForwards(t *testing.T) {
	s, c, _, _ := granted(t, proxytest.Legs()[0])
	c.Reply(c.CallWith("deploy", `{"env":"staging","n":2}`, `"secret":"unseen"`, ""))
	s.Executed("deploy", 2)
	if got := s.LastReceived("tools/call"); strings.Contains(got, "unseen") || !strings.Contains(got, `"n":2`) {
		t.Errorf("forwarded: %s", got)
	}
}

// TestGrantOffRecord: a grant that cannot be recorded is not created.
func TestGrantOffRecord(t *testing.T) {
	s, c, g, _ := granted(t, proxytest.Legs()[0])
	if err := s.Proxy.Revoke(g.ID, "ada"); err != nil {
		t.Fatal(err)
	}
	c.Parks("deploy", `{"n":5}`)
	s.Records.Fail.Store(true)
	err := s.Proxy.Answer(s.AwaitPending(1)[0].ID, proxy.Answer{Approve: true, Channel: proxy.ChannelCLI, Actor: "ada", Grant: &proxy.Grant{For: time.Minute}})
	if err == nil || !strings.Contains(err.Error(), "is approved, but without a grant: ") || len(s.Proxy.Grants()) != 0 {
		t.Errorf("%v, %+v", err, s.Proxy.Grants())
	}
}

// TestInvalidGrantIsNotCreated: a grant that is not allowed or cannot be recorded is not created; a
// denial creates none.
func TestInvalidGrantIsNotCreated(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
		o.Approval = proxy.Approval{Channels: []string{"cli"}, Hold: proxytest.ParkAtOnce}
	}})
	c := s.Connect(proxytest.Legs()[0], "")
	c.Do("deploy", `{}`)
	id := s.AwaitPending(1)[0].ID
	for _, approve := range []bool{true, false} {
		err := s.Proxy.Answer(id, proxy.Answer{Approve: approve, Channel: proxy.ChannelCLI, Actor: "ada", Grant: &proxy.Grant{For: time.Minute}})
		if err == nil {
			t.Errorf("approve %t: a grant is given", approve)
		}
	}
	s.AwaitPending(1)
	if all, err := json.Marshal(s.Proxy.Grants()); err != nil || string(all) != "[]" {
		t.Errorf("%s, %v", all, err)
	}
}
