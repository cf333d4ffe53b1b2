package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/service"
	"github.com/petrigate/petrigate/internal/takeover"
)

// serviceFlags holds the flags --service and --no-service of petrigate connect --hooks. If neither
// is set and the command runs at a terminal, the user is asked whether to create a user service.
type serviceFlags struct{ make, skip bool }

func (f *serviceFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.make, "service", false, "with --hooks, install the proxy as a user service that starts when you log in")
	c.Flags().BoolVar(&f.skip, "no-service", false, "with --hooks, do not install a service, and do not ask")
}

// check returns an error if the flags contradict each other or are used without --hooks.
func (f *serviceFlags) check(hooks bool) error {
	switch {
	case f.make && f.skip:
		return usage("--service and --no-service cannot be combined")
	case !hooks && (f.make || f.skip):
		return usage("--service and --no-service require --hooks")
	}
	return nil
}

// serviceManager returns the user's service manager, or nil if petrigate does not support any on
// this operating system.
func serviceManager(s clientcfg.System) *service.Manager {
	return service.ManagerOf(service.System{OS: s.OS, Home: s.Home, Env: s.Env, UID: os.Getuid()})
}

// serviceFor returns a service that runs a proxy with the configuration at path.
func (f *serviceFlags) serviceFor(ctx context.Context, d *takeover.Driver, program string, args []string, path string, loaded *config.Config) *takeover.HookService {
	return &takeover.HookService{
		Manager: serviceManager(d.System),
		Service: service.Service{Program: program, Args: args, Config: path, Environment: serviceVariables(loaded)},
		Listen:  cmp.Or(loaded.Listen.HTTP, hooksAddress),
		Reads:   configVariables(ctx, path, loaded), Memory: loaded.State.Driver == "memory",
		Make: f.make, Skip: f.skip,
	}
}

// serviceVariables returns those environment variables of this process that specify directories for
// petrigate and the programs it starts. The service needs them because it does not inherit the
// environment of the user's shell.
func serviceVariables(c *config.Config) (all []service.Variable) {
	names := []string{"PETRIGATE_RUNTIME_DIR", "XDG_STATE_HOME"}
	if runtime.GOOS != "linux" { // on Linux, the service manager sets XDG_RUNTIME_DIR
		names = append(names, "XDG_RUNTIME_DIR")
	}
	for _, name := range names {
		if value := os.Getenv(name); filepath.IsAbs(value) {
			all = append(all, service.Variable{Name: name, Value: value})
		}
	}
	starts := func(s config.Server) bool { return s.Command != "" && !s.Disabled }
	if slices.ContainsFunc(c.Servers, starts) {
		dirs := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool { return !filepath.IsAbs(dir) })
		all = append(all, service.Variable{Name: "PATH", Value: strings.Join(dirs, string(filepath.ListSeparator))})
	}
	return all
}

// configVariables returns the names of this process's environment variables that affect the
// configuration: variables that the configuration refers to, and PETRIGATE_ variables, which
// override its settings. It leaves out variables that the service has anyway, such as HOME.
func configVariables(ctx context.Context, path string, c *config.Config) (names []string) {
	common := []string{"HOME", "USER", "LOGNAME", "APPDATA", "XDG_CONFIG_HOME"}
	common = append(common, list.Map(serviceVariables(c), func(v service.Variable) string { return v.Name })...)
	env := func(name string) (string, bool) {
		value, set := os.LookupEnv(name)
		if set && (value != "" || !strings.HasPrefix(name, "PETRIGATE_")) && !slices.Contains(common, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
		return value, set
	}
	_, _ = config.Load(config.Options{Path: path, Env: env, Fetch: daemon.BaseFetcher(ctx)}) // errors are ignored, because the configuration has already been loaded successfully
	slices.Sort(names)
	return names
}

// proxies returns the user's running proxies.
func proxies() (all []takeover.Proxy) {
	running, _ := askAll((*control.Client).Status) // ignore the error, because usually it only means that no proxy is running
	for _, s := range running {
		p := takeover.Proxy{PID: s.Pid, Config: s.Config}
		if s.Listen != "stdio" {
			p.URL = s.Listen
		}
		all = append(all, p)
	}
	return all
}

// hooksAddress is the default listen address for a proxy that serves hooks.
const hooksAddress = "127.0.0.1:7777"
