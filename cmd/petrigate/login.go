package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/serve/oauth"
	"github.com/petrigate/petrigate/internal/text"
)

// loginFlags holds the flags that select the server to log in to or out of.
type loginFlags struct {
	url, name string
	args      []string
	configLoader
}

func (f *loginFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.url, "url", "", "the `URL` of a server for wrap --url, instead of a configured server")
	c.Flags().StringVar(&f.name, "name", daemon.Unnamed, "the server's `name` in wrap")
}

func newLogin(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "login (SERVER | --url URL | --list)",
		Short: "Log in to a server that requires OAuth, in the browser",
		Long: "login gets tokens for a server over HTTP. It opens the server's authorization server in the browser and stores\n" +
			"the tokens in the system keyring, or in a file that only you can read. serve and wrap use and refresh the\n" +
			"tokens; running proxies need no restart.",
		Args: cobra.MaximumNArgs(1),
	}
	var f loginFlags
	f.add(c)
	noBrowser := c.Flags().Bool("no-browser", false, "print the address instead of opening it; if the browser runs on another machine, paste its final address")
	list := c.Flags().Bool("list", false, "list the servers and whether they have tokens")
	asJSON := c.Flags().Bool("json", false, "print JSON, with --list")
	timeout := c.Flags().Duration("timeout", 5*time.Minute, "how long to wait for the browser")
	c.RunE = func(c *cobra.Command, args []string) error {
		f.args = args
		switch {
		case *list && (len(args) > 0 || f.url != ""):
			return usage("--list cannot be combined with a server")
		case *list:
			return listLogins(s, c, *asJSON)
		case *asJSON:
			return usage("--json requires --list")
		case *timeout <= 0:
			return usage("--timeout must be above 0")
		}
		server, err := f.server(s, c)
		if err != nil {
			return err
		}
		return login(c.Context(), s, server, *noBrowser, *timeout)
	}
	return c
}

func newLogout(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "logout (SERVER | --url URL)",
		Short: "Delete the tokens for a server, and revoke them where possible",
		Args:  cobra.MaximumNArgs(1),
	}
	var f loginFlags
	f.add(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		f.args = args
		server, err := f.server(s, c)
		if err != nil {
			return err
		}
		return logout(c.Context(), s, server)
	}
	return c
}

// server returns the server selected by the flags or the argument. It returns an error if the user
// cannot log in to that server.
func (f *loginFlags) server(s stdio, c *cobra.Command) (_ config.Server, err error) {
	switch {
	case f.url != "" && len(f.args) > 0:
		return config.Server{}, usage("pass the name of a server or --url, not both")
	case f.url != "":
		return daemon.Wrapped(f.name, f.url, "auto", nil)
	case len(f.args) == 0:
		return config.Server{}, usage("name a server; petrigate login --list shows them")
	}
	if f.configLoader, err = s.configLoader(c); err != nil {
		return config.Server{}, err
	}
	path, trusts, err := f.locate()
	if err != nil {
		return config.Server{}, err
	}
	file, servers, err := config.Servers(config.Options{Path: path, Found: trusts != nil, Trust: trusts})
	if err != nil {
		return config.Server{}, err
	}
	name := f.args[0]
	if server := list.Find(servers, func(s config.Server) bool { return s.Name == name }); server != nil {
		return *server, daemon.CheckLogin(*server)
	}
	known := list.Map(servers, func(s config.Server) string { return s.Name })
	return config.Server{}, usage("%s has no server %q%s", file, name, text.DidYouMean(name, "", known))
}

func login(ctx context.Context, s stdio, server config.Server, noBrowser bool, timeout time.Duration) error {
	store, err := daemon.TokenStore(server)
	if err != nil {
		return err
	}
	o := oauth.LoginOptions{Timeout: timeout, Open: func(address string) error {
		_, _ = fmt.Fprintf(s.err, "Opening the browser to log in to %s. If no browser opens, open this address on this machine:\n%s\n", server.Name, address)
		return oauth.OpenBrowser(address)
	}}
	if server.OAuth != nil {
		o.Redirect = oauth.Redirect{Host: server.OAuth.RedirectHost, Port: server.OAuth.RedirectPort, Path: server.OAuth.RedirectPath}
	}
	if noBrowser {
		o.Open = func(address string) error {
			_, _ = fmt.Fprintln(s.err, "Open this address in a browser. If the browser runs on another machine, paste its final address here:")
			_, err := fmt.Fprintln(s.out, address)
			return err
		}
		o.Lines = lines(s.in)
		o.Reject = func(why error) { _, _ = fmt.Fprintf(s.err, "petrigate: %v\n", why) }
	}
	status, err := oauth.Login(ctx, daemon.OAuthServer(server), store, o)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.err, "Logged in to %s: %s.\n", server.Name, strings.Join(status.Facts(time.Now()), ", "))
	return err
}

// lines returns an iterator over the lines read from r.
func lines(r io.Reader) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s := bufio.NewScanner(r); s.Scan() && yield(s.Text()); {
		}
	}
}

func logout(ctx context.Context, s stdio, server config.Server) error {
	store, err := daemon.TokenStore(server)
	if err != nil {
		return err
	}
	was, err := oauth.Logout(ctx, daemon.OAuthServer(server), store)
	if err != nil && !was {
		return err
	}
	if err != nil {
		_, _ = fmt.Fprintf(s.err, "petrigate: %v; the local copies were deleted\n", err)
	}
	text := "You were not logged in to %s.\n"
	if was {
		text = "Logged out of %s.\n"
	}
	_, err = fmt.Fprintf(s.err, text, server.Name)
	return err
}

// listLogins prints the login status of each HTTP server. For a server with an invalid
// configuration, it prints the problems.
func listLogins(s stdio, c *cobra.Command, asJSON bool) error {
	r, err := s.configLoader(c)
	if err != nil {
		return err
	}
	_, servers, err := config.Servers(r.options())
	unknown := func(s config.Server) bool { return s.Type != "stdio" && s.URL == "" && len(s.Problems) == 0 }
	if err == nil && slices.ContainsFunc(servers, unknown) { // the URL comes from a variable, and variables are expanded only in trusted files
		var path string
		var trusts func(string, []byte) bool
		if path, trusts, err = r.locate(); err == nil {
			_, servers, err = config.Servers(config.Options{Path: path, Found: trusts != nil, Trust: trusts})
		}
	}
	if err != nil {
		return err
	}
	now := time.Now()
	all := []oauth.Status{}
	var rows [][]string
	var failed, invalid error
	for _, server := range servers {
		if err := daemon.CheckLogin(server); err != nil {
			if problems, rest := check.ConfigProblems(err); rest == nil {
				printProblems(s.err, problems)
				invalid = &exitError{code: exitInvalid}
			}
			continue
		}
		store, err := daemon.TokenStore(server)
		if err != nil {
			return err
		}
		status, err := oauth.StatusOf(daemon.OAuthServer(server), store, now)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", server.Name, err))
		}
		all = append(all, status)
		more := ""
		if status.State != oauth.StateNone {
			more = strings.Join(status.Facts(now), ", ")
		}
		rows = append(rows, []string{server.Name, status.State, more})
	}
	err = printEither(s.out, asJSON, "logins", all, func() error { return text.Table(s.out, "no servers to log in to", "SERVER|LOGIN|", rows) })
	return cmp.Or(errors.Join(err, failed), invalid)
}
