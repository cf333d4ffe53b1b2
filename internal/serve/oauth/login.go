package oauth

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"time"

	"golang.org/x/oauth2"

	"github.com/petrigate/petrigate/internal/text"
)

// LoginOptions configures a login. Open is required.
type LoginOptions struct {
	// Open shows a page to the user. It must return without waiting for the login to finish.
	Open func(address string) error

	// Lines yields the lines that the user types during the login. It is nil if the user cannot
	// type. If the browser runs on another machine, the user must type the browser's final address.
	// For any other line, Login calls Reject with the reason.
	Lines  iter.Seq[string]
	Reject func(reason error)

	Redirect Redirect         // redirect URI to use
	Timeout  time.Duration    // how long the user may take to log in; 0 means 5 minutes
	Now      func() time.Time // if nil, time.Now is used
}

const loginTimeout = 5 * time.Minute

// Login lets a person log in to s with a browser, and saves the resulting tokens in the store. It
// returns the status of the new login.
func Login(ctx context.Context, s Server, store *Store, o LoginOptions) (Status, error) {
	if o.Timeout <= 0 {
		o.Timeout = loginTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &login{server: s, store: store, options: o, client: newClient(s)}
	defer l.client.CloseIdleConnections()
	c, err := l.challenge(ctx)
	if err != nil {
		return Status{}, err
	}
	if l.authority, err = discover(ctx, l.client, s, c); err != nil {
		return Status{}, fmt.Errorf("finding out how to log in to %s: %w", s.Name, err)
	}
	if err := l.collectScopes(ctx); err != nil {
		return Status{}, err
	}
	g, err := l.authorize(ctx)
	if err != nil {
		return Status{}, fmt.Errorf("logging in to %s: %w", s.Name, err)
	}
	return l.save(ctx, g)
}

// login holds the state of a call to [Login].
type login struct {
	server    Server
	store     *Store
	options   LoginOptions
	client    *http.Client
	authority *authority
	scopes    []string
}

// challenge sends a request without a token and returns the challenge in the server's response.
func (l *login) challenge(ctx context.Context) (challenge, error) {
	if !isSecure(l.server.URL) {
		return challenge{}, fmt.Errorf("logging in to %s: %w", l.server.Name, errInsecure)
	}
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.server.URL, bytes.NewReader([]byte(ping)))
	if err != nil {
		return challenge{}, errors.New("the url is invalid")
	}
	for name, value := range l.server.Headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	response, err := l.client.Do(request)
	if err != nil {
		var u *url.Error // keep only the wrapped error, because the text of a url.Error contains the address
		if errors.As(err, &u) {
			err = u.Err
		}
		return challenge{}, fmt.Errorf("asking %s how to log in: %w", l.server.Name, err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, 64<<10) // the body is not used
	return readChallenge(response.Header), nil
}

// collectScopes determines the scopes to request. It starts with the scopes that the configuration
// or the MCP server specifies. The MCP server may have demanded more scopes since the last login.
// If so, and if the authorization server is the same, collectScopes adds these scopes and the
// previously granted scopes. It adds offline_access if the authorization server supports this
// scope, to get a refresh token.
func (l *login) collectScopes(ctx context.Context) error {
	unlock, err := l.store.lock(ctx, l.server.key())
	if err != nil {
		return err
	}
	defer unlock()
	l.scopes = l.authority.scopes
	before, err := l.store.load(l.server.key())
	if err == nil && before != nil && before.Wanted != nil && before.Issuer == l.authority.meta.Issuer {
		l.scopes = union(union(before.Scopes, l.scopes), before.Wanted)
	}
	const offline = "offline_access"
	if slices.Contains(l.authority.meta.ScopesSupported, offline) {
		l.scopes = union(l.scopes, []string{offline})
	}
	return nil // an unreadable grant does not matter, because the login replaces it
}

// authorize sends the user's browser to the authorization server, waits for the response, and
// returns a grant with the resulting tokens.
func (l *login) authorize(ctx context.Context) (g *Grant, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.options.Timeout)
	defer cancel()
	state := rand.Text()
	back, err := listenForCallback(l.options.Redirect, state)
	if err != nil {
		return nil, err
	}
	defer func() { back.close(err != nil) }()
	if g, err = l.authority.identify(ctx, l.client, l.server, back.redirectURI()); err != nil {
		return nil, err
	}
	config := oauth2.Config{
		ClientID: g.ClientID, ClientSecret: g.ClientSecret, RedirectURL: back.redirectURI(), Scopes: l.scopes,
		Endpoint: oauth2.Endpoint{AuthURL: l.authority.meta.AuthorizationEndpoint, TokenURL: g.TokenURL, AuthStyle: g.AuthStyle},
	}
	verifier := oauth2.GenerateVerifier()
	resource := oauth2.SetAuthURLParam("resource", g.Resource)
	if err := l.options.Open(config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier), resource)); err != nil {
		return nil, err
	}
	if l.options.Lines != nil {
		go l.readAddress(back)
	}
	answer, err := back.wait(ctx)
	if err != nil {
		return nil, err
	}
	code, err := l.readCode(answer)
	if err != nil {
		return nil, err
	}
	t, err := config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, l.client), code, oauth2.VerifierOption(verifier), resource)
	if err != nil {
		return nil, withoutQuotes(err)
	}
	return g.withToken(t, l.scopes, l.options.Now())
}

// readAddress reads lines until the user has typed the address that contains the response, or until
// the input ends.
func (l *login) readAddress(back *callback) {
	for line := range l.options.Lines {
		if line == "" {
			continue
		}
		err := back.acceptTyped(line)
		if err == nil {
			return
		}
		l.options.Reject(err)
	}
}

// readCode checks the issuer of an authorization response (RFC 9207) and returns the code in the
// response.
func (l *login) readCode(answer url.Values) (string, error) {
	iss, meta := answer.Get("iss"), l.authority.meta
	switch {
	case answer.Has("iss") && iss != meta.Issuer, meta.AuthorizationResponseIssParameterSupported && iss == "":
		return "", fmt.Errorf("the response is not from the authorization server %s but from %q: this could be a mix-up attack", meta.Issuer, text.Excerpt(iss, maxQuoted))
	case answer.Get("error") != "":
		return "", fmt.Errorf("the authorization server says %s", text.Excerpt(answer.Get("error"), maxQuoted))
	case answer.Get("code") == "":
		return "", errors.New("the authorization server's response contains no code")
	}
	return answer.Get("code"), nil
}

func (l *login) save(ctx context.Context, g *Grant) (Status, error) {
	unlock, err := l.store.lock(ctx, l.server.key())
	if err != nil {
		return Status{}, err
	}
	defer unlock()
	where, err := l.store.save(l.server.key(), g)
	if err != nil {
		return Status{}, err
	}
	return statusOf(g, where, l.options.Now()), nil
}

// OpenBrowser opens a page in the user's browser. It does not use a shell, because the
// authorization server controls parts of the address.
func OpenBrowser(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("the page to open is not a web page")
	}
	argv := Browser(runtime.GOOS, os.Getenv("BROWSER"))
	c := exec.Command(argv[0], append(argv[1:], u.String())...)
	if err := c.Start(); err != nil {
		return fmt.Errorf("opening the browser: %w (petrigate login --no-browser prints the address)", err)
	}
	go func() { _ = c.Wait() }() // some browsers run until their window is closed
	return nil
}

// Browser returns the command that opens a page in a browser. The command runs the program chosen
// by the user. If the user has chosen no program, the command runs the default program of the given
// operating system.
func Browser(system, chosen string) []string {
	switch {
	case chosen != "":
		return []string{chosen}
	case system == "darwin":
		return []string{"open"}
	case system == "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return []string{"xdg-open"}
}
