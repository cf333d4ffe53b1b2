package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/proxy"
)

// BenchmarkInbox makes the first page of 1,000 questions and 5,000 answers.
func BenchmarkInbox(b *testing.B) {
	d := &desk{changed: make(chan struct{})}
	for n := range 6000 {
		a := question(n, fmt.Sprint("tool", n%50))
		a.Question = "Allow it?\n" + strings.Repeat("  \"key\": \"a value of some length\",\n", 40)
		if n >= 1000 {
			a.State, a.Actor = proxy.Consumed, "ann"
		}
		d.approvals = append(d.approvals, a)
	}
	c := New(Options{Proxy: d, Hosts: []string{"example.com"}})
	defer c.Close()
	cookie := c.doors.enter(c.Code(ann))
	for b.Loop() {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/inbox", nil)
		r.AddCookie(&http.Cookie{Name: cookieName(r.Host), Value: cookie})
		c.ServeHTTP(w, r)
		if w.Code != http.StatusOK || w.Body.Len() < 10_000 {
			b.Fatal(w.Code)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(time.Millisecond), "ms/page")
}
