package relay

import (
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// sent records the messages to a client.
type sent struct {
	spec.Stream
	messages []string
}

func (s *sent) Send(parts ...[]byte) {
	s.messages = append(s.messages, string(slices.Concat(parts...)))
}

// TestAnnounceIfSeen: a client that has fetched the list gets list_changed when a server comes
// up. A client that fetches the list only after that does not.
func TestAnnounceIfSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Relay{
			Life:     lifetime.New(time.Now, slog.New(slog.DiscardHandler)),
			Sessions: session.New(session.Options{}, func(*session.Session) error { return nil }, time.Now),
		}
		out := &sent{}
		c, err := p.Sessions.Connect("stdio", "ann", nil, out)
		if err != nil {
			t.Fatal(err)
		}
		c.Ready.Store(true)
		p.AnnounceIfSeen(spec.ResourcesListChanged)
		c.Subscriptions.SawList(spec.ResourcesListChanged)
		p.Life.Wait()
		if len(out.messages) != 0 {
			t.Errorf("%q", out.messages)
		}
		p.AnnounceIfSeen(spec.PromptsListChanged)
		p.AnnounceIfSeen(spec.ResourcesListChanged)
		p.Life.Wait()
		if want := []string{`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`}; !slices.Equal(out.messages, want) {
			t.Errorf("%q, want %q", out.messages, want)
		}
	})
}
