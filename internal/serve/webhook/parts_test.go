package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
)

// TestCheckAddress checks that nothing is sent to other machines without encryption, whatever a
// name resolves to, and that nothing is posted to the metadata services of clouds.
func TestCheckAddress(t *testing.T) {
	for _, c := range []struct {
		address string
		plain   bool
		want    bool
	}{
		{"127.0.0.1:80", true, true}, {"[::1]:80", true, true}, {"[::ffff:127.0.0.1]:80", true, true},
		{"10.0.0.1:80", true, false}, {"192.0.2.1:80", true, false}, {"0.0.0.0:80", true, false}, {"name:80", true, false},
		{"10.0.0.1:443", false, true}, {"192.0.2.1:443", false, true}, {"169.254.169.254:443", false, false}, {"[fd00:ec2::254]:443", false, false},
	} {
		if err := checkAddress(c.address, c.plain); (err == nil) != c.want {
			t.Errorf("%s, plain %t: %v", c.address, c.plain, err)
		}
	}
}

// TestTrackerLimitsEachPrincipal checks that one user's approvals cannot displace those of others,
// and that the log says only once that there are too many.
func TestTrackerLimitsEachPrincipal(t *testing.T) {
	s := newTracker()
	var work sync.WaitGroup
	var all []*trackedApproval
	said := 0
	ask := func(principal string, n int) (taken int) {
		for i := range n {
			q, first := s.add(t.Context(), &work, operator.ApprovalInfo{ID: fmt.Sprint(principal, i), Principal: principal})
			if q != nil {
				taken++
				all = append(all, q)
			}
			if first {
				said++
			}
		}
		return taken
	}
	if n := ask("mallory", 10*maxPerPrincipal); n != maxPerPrincipal || said != 1 {
		t.Errorf("%d questions of one user, said %d times", n, said)
	}
	if n := ask("ann", 1); n != 1 {
		t.Error("another user is kept out")
	}
	for i := range 10 {
		ask(fmt.Sprint("user", i), maxPerPrincipal)
	}
	if len(all) != maxTracked || s.count() != maxTracked {
		t.Errorf("%d questions", len(all))
	}
	if q, _ := s.add(t.Context(), &work, operator.ApprovalInfo{ID: "ann0", Principal: "ann"}); q != nil {
		t.Error("a question is followed twice")
	}
	for _, q := range all {
		s.remove(q)
		work.Done()
	}
	if s.count()+len(s.open)+len(s.perPrincipal) != 0 || s.full {
		t.Errorf("something is left: %v", s.perPrincipal)
	}
	s.close()
	if n := ask("ann", 1); n != 0 {
		t.Error("it is closed")
	}
}

// TestEndFinishedReturnsNextExpiry checks that finished approvals are no longer tracked and that
// the next expiry is returned.
func TestEndFinishedReturnsNextExpiry(t *testing.T) {
	s := newTracker()
	var work sync.WaitGroup
	now := time.Now()
	var list []*trackedApproval
	for i := range 3 {
		q, _ := s.add(context.Background(), &work, operator.ApprovalInfo{ID: fmt.Sprint(i), Expires: now.Add(time.Duration(3-i) * time.Hour)})
		list = append(list, q)
	}
	if next := s.endFinished(func(id string) bool { return id == "2" }); !next.Equal(now.Add(2*time.Hour)) || list[2].ctx.Err() == nil || list[1].ctx.Err() != nil {
		t.Errorf("next %v", next)
	}
	if next := s.endFinished(func(string) bool { return true }); !next.IsZero() || s.count() != 0 {
		t.Errorf("next %v, %d open", next, s.count())
	}
}

// FuzzAnswer checks that an accepted body contains each member exactly once, as a string, and one
// of the two decisions.
func FuzzAnswer(f *testing.F) {
	nonce := signer{[]byte("secret")}.nonceText(operator.ApprovalInfo{})
	for _, body := range []string{
		`{"id":"ap_1","nonce":"` + nonce + `","decision":"approve","actor":"ann","reason":"ok"}`,
		`{"id":"ap_1","nonce":"` + nonce + `","decision":"deny","actor":"\u0061nn"}`,
		`{"approved":"false"}`, `{"approved":1}`, `{"decision":"approve","decision":"deny"}`, `[]`, ``, `"approve"`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := parseAnswer(body)
		if err != nil {
			return
		}
		var all map[string]any
		if err := json.Unmarshal(body, &all); err != nil {
			t.Fatalf("%q is no JSON: %v", body, err)
		}
		decision := map[bool]string{true: "approve", false: "deny"}[a.approve]
		if all["id"] != a.id || all["decision"] != decision || all["actor"] != a.actor || a.actor == "" || a.id == "" || len(a.nonce) != nonceBytes {
			t.Errorf("%q is read as %+v", body, a)
		}
		if reason, ok := all["reason"]; ok && reason != a.reason || len(all) > 5 {
			t.Errorf("%q is read as %+v", body, a)
		}
	})
}

// FuzzTicket checks that only signed tokens are accepted.
func FuzzTicket(f *testing.F) {
	s := signer{[]byte("secret")}
	made := s.token("ap_1", ticket{nonce: s.nonce(operator.ApprovalInfo{}), expires: time.Unix(1, 0), approve: true})
	f.Add("ap_1", made)
	f.Add("ap_2", made)
	f.Add("", "")
	f.Fuzz(func(t *testing.T, id, token string) {
		if got, ok := s.ticket(id, token); ok && s.token(id, got) != token || ok && token != made {
			t.Errorf("%q is taken for a link to %q: %+v", token, id, got)
		}
	})
}
