package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/serve/terminal"
	"github.com/petrigate/petrigate/internal/takeover"
)

// deskFlags holds the flags shared by the commands that change clients' files.
type deskFlags struct {
	file       string
	yes, force bool
}

func (f *deskFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.file, "file", "", "use this `file` instead of the client's default")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "write without confirmation")
}

// desk returns a driver that changes the files of the MCP clients on this machine, with the options
// set by flags.
func (f *deskFlags) desk(ctx context.Context, s stdio) (*takeover.Driver, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("looking for the home directory: %w", err)
	}
	state, err := daemon.StateDir()
	if err != nil {
		return nil, err
	}
	d := &takeover.Driver{
		System: clientcfg.System{OS: runtime.GOOS, Home: home, Env: os.LookupEnv},
		State:  filepath.Join(state, "clients"), Out: s.out, Running: clientcfg.Running, Yes: f.yes, Force: f.force,
		Fetch: daemon.BaseFetcher(ctx), Proxies: proxies,
	}
	if terminal.Is(s.in) && terminal.Is(s.out) {
		d.Ask = takeover.AskAt(ctx, s.in, s.out)
	}
	return d, nil
}

// withExitCode converts a [takeover.UsageError] to an error with the exit code for incorrect usage.
// It returns all other errors unchanged.
func withExitCode(err error) error {
	var wrong *takeover.UsageError
	if errors.As(err, &wrong) {
		return usage("%w", err)
	}
	return err
}

func newImport(s stdio) *cobra.Command {
	var f deskFlags
	var i takeover.Import
	c := &cobra.Command{
		Use: "import CLIENT", Short: "Import a client's servers into the configuration", Args: cobra.ExactArgs(1),
		Long: "import reads a client's servers, shows the resulting configuration, and writes it after confirmation. It does\n" +
			"not change the client's file. Without --config it writes ./petrigate.yaml if that exists, otherwise the user's\n" +
			"configuration, which it creates if necessary.\n" +
			"\n" +
			"With --permissions it prints an agent's permission lists as rules, and names the lines that it could not\n" +
			"convert.",
	}
	f.add(c)
	c.Flags().BoolVar(&f.yes, "write", false, "same as --yes")
	c.Flags().StringSliceVar(&i.Only, "only", nil, "import only the servers with these `names`")
	c.Flags().BoolVar(&i.Rename, "rename", false, "rename a server if the configuration already has a different one with that name")
	asJSON := c.Flags().Bool("json", false, "print JSON, and write nothing")
	permissions := c.Flags().Bool("permissions", false, "print the client's permission lists as rules, and write nothing")
	c.RunE = func(c *cobra.Command, args []string) error {
		if *permissions && *asJSON {
			return usage("--permissions prints rules and cannot be combined with --json")
		}
		d, err := f.desk(c.Context(), s)
		if err != nil {
			return err
		}
		if *permissions {
			return s.permissions(d.System, args[0])
		}
		trusted, err := s.importTarget(c, &i)
		if err != nil {
			return err
		}
		i.Client, i.File = args[0], f.file
		p, err := d.Plan(i)
		switch {
		case err != nil:
			return withExitCode(err)
		case *asJSON:
			return printAnswer(s.out, "import", p)
		}
		err = d.Write(p)
		s.notePermissionLists(d.System, args[0])
		if err == nil && trusted != nil {
			err = trusted()
		}
		return withExitCode(err)
	}
	return c
}

// importTarget sets i.Config to the path of the configuration that receives the servers. If the
// file was found in the working directory and is not trusted, importTarget sets i.TextOnly. If it
// was found there and is trusted, importTarget returns a function that keeps it trusted; the caller
// must call this function after the import. In all other cases, the function is nil.
func (s stdio) importTarget(c *cobra.Command, i *takeover.Import) (trusted func() error, err error) {
	r, err := s.configLoader(c)
	if err != nil {
		return nil, err
	}
	path, found, err := config.Lookup(r.options())
	if errors.Is(err, config.ErrNotFound) {
		path, err = config.UserFile(config.Options{}), nil
	}
	if err == nil {
		i.Config, err = filepath.Abs(path)
	}
	if err != nil || !found {
		return nil, err
	}
	if err := r.requireOwnFile(path); err != nil { // do not write the client's secrets into a file that another user may control
		return nil, err
	}
	src, err := os.ReadFile(path)
	if err != nil || !r.book.Trusts(path, src) {
		i.TextOnly = true
		return nil, err
	}
	return func() error {
		after, err := os.ReadFile(path)
		if err == nil {
			r.renewTrust(path, src, after)
		}
		return err
	}, nil
}

// configPath is like [configLoader.locate], but returns an absolute path.
func (s stdio) configPath(c *cobra.Command) (path string, trusts func(string, []byte) bool, err error) {
	r, err := s.configLoader(c)
	if err != nil {
		return "", nil, err
	}
	if path, trusts, err = r.locate(); err != nil {
		return "", nil, err
	}
	path, err = filepath.Abs(path)
	return path, trusts, err
}

func newConnect(s stdio) *cobra.Command {
	var f deskFlags
	var n takeover.Connection
	var headers []string
	c := &cobra.Command{
		Use: "connect [CLIENT]", Short: "Replace a client's servers with petrigate", Args: cobra.MaximumNArgs(1),
		Long: "connect replaces the client's servers that the configuration contains with one entry for petrigate. It shows\n" +
			"the difference, asks for confirmation, and leaves a backup beside the file. petrigate disconnect undoes it.\n" +
			"With --list it shows all clients instead.\n" +
			"\n" +
			"An agent's hooks need a running proxy. --hooks offers to install one as a user service, which systemd, launchd\n" +
			"or the Task Scheduler starts when you log in; --service does so without asking.",
	}
	f.add(c)
	c.Flags().BoolVar(&f.force, "force", false, "write even if the client is running and might overwrite its file")
	c.Flags().BoolVar(&n.All, "all-servers", false, "replace all servers, including those not in the configuration")
	c.Flags().StringSliceVar(&n.Only, "only", nil, "replace only the servers with these `names`")
	c.Flags().StringVar(&n.Launch.URL, "url", "", "connect the client to petrigate at this `URL`, the address of serve --http")
	c.Flags().StringArrayVar(&headers, "header", nil, "with --url, a request `header`, for example 'Authorization: Bearer ...'")
	hooks := c.Flags().Bool("hooks", false, "add petrigate to the agent's hooks, to gate its built-in tools too")
	var run serviceFlags
	run.add(c)
	deny := c.Flags().Bool(denyTools, false, "with --hooks, continue even if the policy would refuse the agent's built-in tools that no rule covers")
	list := c.Flags().Bool("list", false, "list all clients with their files, servers and state")
	asJSON := c.Flags().Bool("json", false, "with --list, print JSON")
	c.RunE = func(c *cobra.Command, args []string) error {
		d, err := f.desk(c.Context(), s)
		switch {
		case err != nil:
			return err
		case *list && *asJSON:
			return printAnswer(s.out, "clients", d.List(c.Context()))
		case *list:
			return d.PrintList(d.List(c.Context()))
		case len(args) == 0 || *asJSON:
			return usage("name a client, or list them with --list")
		case n.All && len(n.Only) > 0:
			return usage("--all-servers and --only cannot be combined")
		case *hooks && (n.All || len(n.Only) > 0 || n.Launch.URL != "" || len(headers) > 0):
			return usage("--hooks cannot be combined with --all-servers, --only, --url or --header")
		case run.check(*hooks) != nil:
			return run.check(*hooks)
		case *hooks:
			return s.connectHooks(c, d, takeover.HookConnection{Client: args[0], File: f.file}, run, *deny)
		}
		n.Client, n.File = args[0], f.file
		if n.Launch.Headers, err = headersOf(headers); err != nil {
			return err
		}
		if _, err := s.fillConnection(c, &n); err != nil {
			return err
		}
		return withExitCode(d.Connect(c.Context(), n))
	}
	return c
}

// fillConnection loads the configuration and returns it. It also sets the fields of n that depend
// on the configuration: the file's path, the servers, and the command that starts the proxy.
func (s stdio) fillConnection(c *cobra.Command, n *takeover.Connection) (*config.Config, error) {
	path, trusts, err := s.configPath(c)
	if errors.Is(err, config.ErrNotFound) {
		first := "import"
		if hooks, _ := c.Flags().GetBool("hooks"); hooks {
			first = "init"
		}
		return nil, fmt.Errorf("%w; first run: petrigate %s %s", err, first, n.Client)
	}
	if err != nil {
		return nil, err
	}
	loaded, err := config.Load(config.Options{Path: path, Found: trusts != nil, Trust: trusts, Fetch: daemon.BaseFetcher(c.Context())}) // an invalid configuration would leave the client without tools
	if err != nil {
		return nil, err
	}
	n.Config, n.Servers = path, loaded.Servers
	program, err := takeover.Program()
	if err != nil {
		return nil, err
	}
	n.Launch.Command, n.Launch.Args = program, []string{"serve", "--config", path}
	return loaded, nil
}

// connectHooks installs petrigate as a hook of the client. If the configuration serves hooks over
// HTTP, the hook uses the URL of the proxy.
func (s stdio) connectHooks(c *cobra.Command, d *takeover.Driver, h takeover.HookConnection, run serviceFlags, deny bool) error {
	n := takeover.Connection{Client: h.Client}
	loaded, err := s.fillConnection(c, &n)
	if err != nil {
		return err
	}
	if of, ok := clientcfg.HooksOf(h.Client); ok {
		if err := acceptDenied(s.err, loaded, []string{of.Agent}, deny, d.Ask); err != nil {
			return err
		}
	}
	h.Launch.Command, h.Launch.Args = n.Launch.Command, []string{"--config", n.Config}
	serve := []string{"serve"}
	if loaded.Listen.HTTP == "" {
		serve = append(serve, "--http", hooksAddress) // hooks need a proxy over HTTP, because one over stdio would end when its client ends
	}
	serve = append(serve, "--config", n.Config)
	h.Serve = append([]string{"petrigate"}, serve...)
	h.Run = run.serviceFor(c.Context(), d, n.Launch.Command, serve, n.Config, loaded)
	h.Launch.URL, h.Launch.Headers = takeover.HookURL(loaded.Listen)
	return withExitCode(d.ConnectHooks(c.Context(), h))
}

// headersOf parses the values of --header. Its errors never quote a header, which may contain a
// secret.
func headersOf(lines []string) (all splice.Object, err error) {
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, usage("--header requires NAME: VALUE, for example 'Authorization: Bearer ...'")
		}
		all = append(all, splice.Member{Key: http.CanonicalHeaderKey(strings.TrimSpace(name)), Value: strings.TrimSpace(value)})
	}
	return all, nil
}

func newDisconnect(s stdio) *cobra.Command {
	var f deskFlags
	c := &cobra.Command{
		Use: "disconnect CLIENT", Short: "Restore a client's servers", Args: cobra.ExactArgs(1),
		Long: "disconnect undoes connect. If the file has not been edited since, it is restored byte for byte. Otherwise\n" +
			"disconnect removes the petrigate entry, puts the servers back in their places and keeps all edits. It also\n" +
			"removes the hooks that connect --hooks added and, with the last of them, the service that connect --service\n" +
			"installed.",
	}
	f.add(c)
	c.Flags().BoolVar(&f.force, "force", false, "write even if the client is running and might overwrite its file")
	hooks := c.Flags().Bool("hooks", false, "remove only the hooks")
	c.RunE = func(c *cobra.Command, args []string) error {
		d, err := f.desk(c.Context(), s)
		if err != nil {
			return err
		}
		services := serviceManager(d.System)
		uses := f.file == "" && d.UsesService(services, args[0])
		if *hooks {
			err = d.DisconnectHooks(args[0], f.file)
		} else {
			err = d.Disconnect(c.Context(), args[0], f.file)
		}
		if err == nil && uses {
			err = d.RemoveUnusedService(c.Context(), services)
		}
		return withExitCode(err)
	}
	return c
}

func clientNames(*cobra.Command) []cobra.Completion {
	return list.Map(clientcfg.All(), func(c clientcfg.Client) cobra.Completion { return cobra.CompletionWithDesc(c.Name, c.Title) })
}
