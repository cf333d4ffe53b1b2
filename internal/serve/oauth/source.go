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

// Options configures a [Source]. The zero value is ready to use.
type Options struct {
	Logger  *slog.Logger     // if nil, nothing is logged
	Command string           // login command to suggest to the user; the default is "petrigate login" with the server's name
	Now     func() time.Time // if nil, time.Now is used
}

const (
	grantTimeout = 40 * time.Second // how long obtaining a token may take, including all requests
	recentWindow = 10 * time.Second // if a server refuses maxRecent tokens within this time, it is assumed to be broken
	maxRecent    = 3
	pollInterval = 500 * time.Millisecond // how often to check for a login while no tokens exist
)

// A Source supplies a proxy with tokens for one server. It is safe for concurrent use.
type Source struct {
	server  Server
	store   *Store
	options Options
	log     *slog.Logger
	client  *http.Client

	current atomic.Pointer[Grant] // grant in use; nil if no grant is known
	flight  singleflight.Group
	work    sync.WaitGroup

	mu         sync.Mutex
	storeTime  time.Time // modification time of the store at the last read
	recent     []*Grant  // grants that this process obtained most recently
	lastLogged error     // error passed to the last call of logOnce
}

// NewSource returns a source of tokens for s, based on the grant in the store. The caller must
// close the source.
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

// Authorization returns the Authorization header for the next request to the server, or "" if no
// token exists. It refreshes a token that is about to expire.
func (s *Source) Authorization(ctx context.Context) (string, error) {
	g := s.current.Load()
	if g == nil && s.server.Grant != ClientCredentials && s.storeChanged() {
		var err error
		if g, err = s.share(ctx, "read", func(context.Context) (*Grant, error) { return s.load() }); err != nil {
			return "", err
		}
	}
	now := s.options.Now()
	if g == nil || g.fresh(now) {
		return g.header(), nil
	}
	next, err := s.share(ctx, "refresh", func(ctx context.Context) (*Grant, error) { return s.replace(ctx, g) })
	if err != nil && g.alive(now) && ctx.Err() == nil {
		return g.header(), nil // refreshing has failed, but the old token is still valid
	}
	return next.header(), err
}

// Renew handles a response that refuses a request with the given Authorization header. It returns a
// header for another attempt, or an error if it cannot obtain a suitable token. If the request was
// refused for a reason other than authorization, it returns "" and no error.
func (s *Source) Renew(ctx context.Context, refused string, response *http.Response) (string, error) {
	c := readChallenge(response.Header)
	switch {
	case response.StatusCode == http.StatusUnauthorized:
	case response.StatusCode == http.StatusForbidden && c.code == "insufficient_scope":
		g, err := s.share(ctx, "more", func(ctx context.Context) (*Grant, error) { return s.extend(ctx, refused, c) })
		return g.header(), err
	default:
		return "", nil
	}
	g, err := s.share(ctx, "renew", func(ctx context.Context) (*Grant, error) { return s.renew(ctx, refused, c) })
	return g.header(), err
}

// Await waits until a token may have become available, or until ctx is done.
func (s *Source) Await(ctx context.Context) {
	if s.server.Grant == ClientCredentials { // this kind of grant needs no login, so there is nothing to wait for
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

// Close waits for the token requests in progress to finish. If it did not wait, a new refresh token
// could be lost after the old one was used, and a person would have to log in again.
func (s *Source) Close() {
	s.work.Wait()
	s.client.CloseIdleConnections()
}

// share calls f only once for concurrent callers with the same key, and returns the result to all
// of them. f continues even if its callers stop waiting.
func (s *Source) share(ctx context.Context, key string, f func(context.Context) (*Grant, error)) (*Grant, error) {
	s.work.Add(1) // count the request before its goroutine starts, so that Close waits for it
	results := s.flight.DoChan(key, func() (any, error) {
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

// logOnce logs err unless it is nil or has the same text as the error of the previous call.
func (s *Source) logOnce(err error) {
	s.mu.Lock()
	again := err == nil || s.lastLogged != nil && s.lastLogged.Error() == err.Error()
	s.lastLogged = err
	s.mu.Unlock()
	if !again {
		s.log.Warn("no token for a server", "error", err)
	}
}

// storeChanged reports whether the grant in the store has changed since this source last read it.
func (s *Source) storeChanged() bool {
	changed := s.store.changeTime(s.server.key())
	s.mu.Lock()
	defer s.mu.Unlock()
	return !changed.Equal(s.storeTime)
}

// load reads the grant from the store. It needs no file lock, because writes are atomic.
func (s *Source) load() (*Grant, error) {
	changed := s.store.changeTime(s.server.key())
	g, err := s.store.load(s.server.key())
	s.mu.Lock()
	s.storeTime = changed
	s.mu.Unlock()
	if err != nil || g == nil || !s.server.matches(g) {
		return nil, err
	}
	return g, nil
}

// replace returns a grant to use instead of g. If another process has already renewed the grant,
// the result is the stored grant. Otherwise, replace requests new tokens. If a person must log in,
// it returns a [LoginError].
func (s *Source) replace(ctx context.Context, g *Grant) (*Grant, error) {
	if s.server.Grant == ClientCredentials {
		return s.credentials(ctx, g, g.Scopes)
	}
	return s.withLock(ctx, func(kept *Grant) (*Grant, error) {
		switch {
		case kept == nil:
			s.current.Store(nil)
			return nil, s.loginError("the login was deleted")
		case kept.AccessToken != g.AccessToken && kept.fresh(s.options.Now()):
			return kept, nil
		case kept.RefreshToken == "":
			return nil, s.loginError("the login has expired")
		}
		return s.refresh(ctx, kept)
	})
}

// withLock calls f with the stored grant, or with nil if no grant is stored. Other processes cannot
// change the stored grant until f returns.
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

// refresh obtains new tokens for g. The caller must hold the store's lock.
func (s *Source) refresh(ctx context.Context, g *Grant) (*Grant, error) {
	next, err := g.refreshed(ctx, s.client, s.options.Now)
	if err != nil && refusedForGood(err) {
		used := *g
		used.RefreshToken = "" // this refresh token must not be tried again
		s.save(&used)
		return nil, s.loginError("the authorization server has revoked the login")
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

// refusedRepeatedly reports whether the server has refused maxRecent tokens within a short time, so
// that another token would not help either.
func (s *Source) refusedRepeatedly(refused string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.recent)
	return n == maxRecent && s.recent[n-1].header() == refused && s.options.Now().Sub(s.recent[0].Obtained) < recentWindow
}

// save stores a grant. If that fails, save only logs the error, because this process can still use
// the grant. The caller must hold the store's lock.
func (s *Source) save(g *Grant) {
	key := s.server.key()
	if _, err := s.store.save(key, g); err != nil {
		s.log.Error("the next start will require a login", "error", err)
	}
	changed := s.store.changeTime(key)
	s.mu.Lock()
	s.storeTime = changed
	s.mu.Unlock()
}

// renew returns a grant to use instead of the one whose Authorization header was refused.
func (s *Source) renew(ctx context.Context, refused string, c challenge) (*Grant, error) {
	if g := s.current.Load(); g != nil && g.header() != refused && g.alive(s.options.Now()) {
		return g, nil // a concurrent caller has already renewed the grant
	}
	if s.server.Grant == ClientCredentials {
		return s.renewCredentials(ctx, c)
	}
	if s.store.changeTime(s.server.key()).IsZero() {
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
			return nil, s.loginError("the server refuses its tokens")
		case kept.RefreshToken == "":
			return nil, s.loginError("the login has expired or was revoked")
		}
		return s.refresh(ctx, kept)
	})
}

// extend returns a grant with the scopes that the challenge c demands. If a person must log in
// again to consent to these scopes, extend returns an error instead.
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
		return nil, fmt.Errorf("the server %s requires scopes that its client does not get", s.server.Name)
	}
	return s.withLock(ctx, func(kept *Grant) (*Grant, error) {
		if kept != nil && kept.header() != refused {
			return kept, nil
		}
		if kept != nil && len(union(kept.Wanted, c.scopes)) > len(kept.Wanted) {
			kept.Wanted = union(kept.Wanted, c.scopes)
			s.save(kept) // the next login will request the additional scopes
		}
		return nil, s.loginError("it requires more scopes than were granted")
	})
}

// renewCredentials obtains a token with the client credentials grant.
func (s *Source) renewCredentials(ctx context.Context, c challenge) (*Grant, error) {
	g := s.current.Load()
	if g != nil && s.refusedRepeatedly(g.header()) {
		return nil, fmt.Errorf("the server %s refuses its tokens", s.server.Name)
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
