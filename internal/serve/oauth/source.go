package oauth

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
)

// Options are what a Source needs of its surroundings. The zero value works.
type Options struct {
	Logger  *slog.Logger     // nil: discard
	Command string           // what a person runs to log in; "": petrigate login with the name of the server
	Now     func() time.Time // nil: time.Now
}

const (
	grantTimeout = 40 * time.Second // for all that getting a token takes
	recentWindow      = 10 * time.Second // for more than a few tokens after each other
	maxRecent         = 3
	pollInterval    = 500 * time.Millisecond // for a login, while there is none
)

// A Source is the tokens of one server for a proxy. Its methods can be called
// from any goroutine.
type Source struct {
	server  Server
	store   *Store
	options Options
	log     *slog.Logger
	client  *http.Client

	current atomic.Pointer[Grant] // nil: none is known
	flight  singleflight.Group
	work    sync.WaitGroup

	mu   sync.Mutex
	storeTime time.Time // of the store, when it was read last
	recent  []*Grant  // the last few that this process got
	lastLogged error     // that was logged last
}

// NewSource makes a source for s with the grants in store. Close it.
func NewSource(s Server, store *Store, o Options) *Source {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Command == "" {
		o.Command = "petrigate login " + s.Name
	}
	return &Source{server: s, store: store, options: o, log: o.Logger.With("upstream", s.Name), client: newClient(s)}
}

// Authorization is what the next request to the server says in the header of
// that name; "": nothing, since there is no token. A token that is about to
// expire is refreshed first.
func (s *Source) Authorization(ctx context.Context) (string, error) {
	g := s.current.Load()
	if g == nil && s.server.Grant != ClientCredentials && s.storeChanged() {
		var err error
		if g, err = s.reload(ctx); err != nil {
			return "", err
		}
	}
	now := s.options.Now()
	if g == nil || g.fresh(now) {
		return headerOf(g), nil
	}
	next, err := s.share(ctx, "refresh", func(ctx context.Context) (*Grant, error) { return s.replace(ctx, g) })
	if err != nil && g.alive(now) && ctx.Err() == nil {
		return g.header(), nil // it may do for now
	}
	return headerOf(next), err
}

func headerOf(g *Grant) string {
	if g == nil {
		return ""
	}
	return g.header()
}

// Renew is told that the server turned a request away that said refused, and
// how. It returns what the request may say instead, or why nothing would help;
// "" without an error: authorization is not what it was about.
func (s *Source) Renew(ctx context.Context, refused string, response *http.Response) (string, error) {
	c := readChallenge(response.Header)
	switch {
	case response.StatusCode == http.StatusUnauthorized:
	case response.StatusCode == http.StatusForbidden && c.code == "insufficient_scope":
		g, err := s.share(ctx, "more", func(ctx context.Context) (*Grant, error) { return s.extend(ctx, refused, c) })
		return headerOf(g), err
	default:
		return "", nil
	}
	g, err := s.share(ctx, "renew", func(ctx context.Context) (*Grant, error) { return s.renew(ctx, refused, c) })
	return headerOf(g), err
}

// Await returns when there may be a token after there was none, or when ctx
// ends.
func (s *Source) Await(ctx context.Context) {
	if s.server.Grant == ClientCredentials { // nobody logs in
		<-ctx.Done()
		return
	}
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for !s.storeChanged() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// Close waits for what is under way: a refresh token that was used up while
// nobody waits for the new one would cost a login.
func (s *Source) Close() {
	s.work.Wait()
	s.client.CloseIdleConnections()
}

// share runs f for all who want the same at one moment. It goes on when they
// have gone.
func (s *Source) share(ctx context.Context, what string, f func(context.Context) (*Grant, error)) (*Grant, error) {
	s.work.Add(1) // here: it may begin when the caller has gone already
	results := s.flight.DoChan(what, func() (any, error) {
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), grantTimeout)
		defer cancel()
		g, err := f(within)
		s.logOnce(err)
		if err == nil {
			s.current.Store(g)
		}
		return g, err
	})
	select {
	case r := <-results:
		s.work.Done()
		g, _ := r.Val.(*Grant)
		return g, r.Err
	case <-ctx.Done():
		go func() {
			<-results
			s.work.Done()
		}()
		return nil, ctx.Err()
	}
}

// logOnce logs an error that is not the last one again.
func (s *Source) logOnce(err error) {
	s.mu.Lock()
	again := err == nil || s.lastLogged != nil && s.lastLogged.Error() == err.Error()
	s.lastLogged = err
	s.mu.Unlock()
	if !again {
		s.log.Warn("no token for a server", "error", err)
	}
}

// storeChanged reports whether the store has changed since it was read last.
func (s *Source) storeChanged() bool {
	changed := s.store.changed(s.server.key())
	s.mu.Lock()
	defer s.mu.Unlock()
	return !changed.Equal(s.storeTime)
}

// reload reads the store anew. It is not locked: what is written is whole.
func (s *Source) reload(ctx context.Context) (*Grant, error) {
	return s.share(ctx, "read", func(context.Context) (*Grant, error) { return s.load() })
}

func (s *Source) load() (*Grant, error) {
	changed := s.store.changed(s.server.key())
	g, err := s.store.load(s.server.key())
	s.mu.Lock()
	s.storeTime = changed
	s.mu.Unlock()
	if err != nil || g == nil || !s.server.matches(g) {
		return nil, err
	}
	return g, nil
}

// replace is a grant with fresh tokens in place of g. Under the lock it may
// turn out that another process has got them.
func (s *Source) replace(ctx context.Context, g *Grant) (*Grant, error) {
	if s.server.Grant == ClientCredentials {
		return s.credentials(ctx, g, g.Scopes)
	}
	return s.withLock(ctx, func(kept *Grant) (*Grant, error) {
		switch {
		case kept == nil:
			s.current.Store(nil)
			return nil, s.loginError("nobody is logged in any more")
		case kept.AccessToken != g.AccessToken && kept.fresh(s.options.Now()):
			return kept, nil
		case kept.RefreshToken == "":
			return nil, s.loginError("the login has expired")
		}
		return s.refresh(ctx, kept)
	})
}

// withLock runs f on the grant in the store, nil where there is none, while no
// other process changes it.
func (s *Source) withLock(ctx context.Context, f func(kept *Grant) (*Grant, error)) (*Grant, error) {
	unlock, err := s.store.lock(ctx, s.server.key())
	if err != nil {
		return nil, err
	}
	defer unlock()
	kept, err := s.load()
	if err != nil {
		return nil, err
	}
	return f(kept)
}

// refresh wants the store locked.
func (s *Source) refresh(ctx context.Context, g *Grant) (*Grant, error) {
	next, err := g.refreshed(ctx, s.client, s.options.Now)
	if err != nil && refusedForGood(err) {
		used := *g
		used.RefreshToken = "" // it is asked for no more
		s.save(&used)
		return nil, s.loginError("the authorization server has ended the login")
	}
	if err != nil {
		return nil, fmt.Errorf("refreshing the token for %s: %s", s.server.Name, s.server.redact(withoutQuotes(err).Error()))
	}
	s.save(next)
	s.recordGrant(next)
	s.log.Debug("token refreshed")
	return next, nil
}

func (s *Source) recordGrant(g *Grant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent = append(s.recent, g)
	s.recent = s.recent[max(0, len(s.recent)-maxRecent):]
}

// refusedRepeatedly reports whether the server has refused what was got for it a few times
// in a row: another token would fare no better.
func (s *Source) refusedRepeatedly(refused string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.recent)
	return n == maxRecent && s.recent[n-1].header() == refused && s.options.Now().Sub(s.recent[0].Obtained) < recentWindow
}

// save wants the store locked. A grant that cannot be kept still serves this
// process.
func (s *Source) save(g *Grant) {
	key := s.server.key()
	if _, err := s.store.save(key, g); err != nil {
		s.log.Error("the next start will want a login", "error", err)
	}
	changed := s.store.changed(key)
	s.mu.Lock()
	s.storeTime = changed
	s.mu.Unlock()
}

// renew is a grant in place of one that the server refused.
func (s *Source) renew(ctx context.Context, refused string, c challenge) (*Grant, error) {
	if g := s.current.Load(); g != nil && g.header() != refused && g.alive(s.options.Now()) {
		return g, nil // it has been renewed meanwhile
	}
	if s.server.Grant == ClientCredentials {
		return s.renewCredentials(ctx, c)
	}
	if s.store.changed(s.server.key()).IsZero() {
		return nil, s.loginError("nobody is logged in")
	}
	return s.withLock(ctx, func(kept *Grant) (*Grant, error) {
		switch {
		case kept == nil:
			s.current.Store(nil)
			return nil, s.loginError("nobody is logged in")
		case kept.header() != refused && kept.alive(s.options.Now()):
			return kept, nil
		case s.refusedRepeatedly(refused):
			return nil, s.loginError("the server refuses the tokens that are got for it")
		case kept.RefreshToken == "":
			return nil, s.loginError("the login has expired or was revoked")
		}
		return s.refresh(ctx, kept)
	})
}

// extend is a grant with the scopes that the server misses. A person has to
// consent to those, unless the client stands for itself.
func (s *Source) extend(ctx context.Context, refused string, c challenge) (*Grant, error) {
	g := s.current.Load()
	switch {
	case g == nil:
		return nil, s.loginError("nobody is logged in")
	case g.header() != refused:
		return g, nil
	case s.server.Grant == ClientCredentials && len(union(g.Scopes, c.scopes)) > len(g.Scopes):
		return s.credentials(ctx, g, union(g.Scopes, c.scopes))
	case s.server.Grant == ClientCredentials:
		return nil, fmt.Errorf("the server %s wants scopes that its client does not get", s.server.Name)
	}
	return s.withLock(ctx, func(kept *Grant) (*Grant, error) {
		if kept != nil && kept.header() != refused {
			return kept, nil
		}
		if kept != nil && len(union(kept.Wanted, c.scopes)) > len(kept.Wanted) {
			kept.Wanted = union(kept.Wanted, c.scopes)
			s.save(kept) // the next login asks for them
		}
		return nil, s.loginError("it wants more scopes than were granted")
	})
}

// renewCredentials gets a token for the client itself.
func (s *Source) renewCredentials(ctx context.Context, c challenge) (*Grant, error) {
	g := s.current.Load()
	if g != nil && s.refusedRepeatedly(g.header()) {
		return nil, fmt.Errorf("the server %s refuses the tokens that are got for it", s.server.Name)
	}
	if g == nil {
		a, err := discover(ctx, s.client, s.server, c)
		if err == nil {
			g, err = a.identify(ctx, s.client, s.server, "")
		}
		if err != nil {
			return nil, fmt.Errorf("getting a token for %s: %w", s.server.Name, err)
		}
		g.Scopes = a.scopes
	}
	return s.credentials(ctx, g, g.Scopes)
}

func (s *Source) credentials(ctx context.Context, g *Grant, scopes []string) (*Grant, error) {
	next, err := g.withClientCredentials(ctx, s.client, scopes, s.options.Now)
	if err != nil {
		return nil, fmt.Errorf("getting a token for %s: %s", s.server.Name, s.server.redact(withoutQuotes(err).Error()))
	}
	s.recordGrant(next)
	return next, nil
}

func (s *Source) loginError(why string) error {
	return &LoginError{Server: s.server.Name, Why: why, Command: s.options.Command}
}
