package daemon

import (
	"errors"
	neturl "net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/petrigate/petrigate/config"
)

// Wrapped returns the configuration that petrigate wrap uses for its only server, which is either
// the command in args or the server at url. The names of the server's tools get no prefix.
func Wrapped(name, url, protocol string, args []string) (config.Server, error) {
	server := config.Server{Name: name, HasPrefix: true, Protocol: protocol, URL: url, Type: "http"}
	at, err := neturl.Parse(url)
	switch {
	case url == "" && len(args) == 0:
		return server, errors.New("wrap requires a command after --, or --url")
	case url != "" && len(args) > 0:
		return server, errors.New("pass a command or --url, not both")
	case url != "" && (err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https"):
		return server, errors.New("--url requires an address that begins with http:// or https://")
	case strings.ContainsFunc(name, unicode.IsControl):
		return server, errors.New("--name contains a control character")
	case len(args) > 0 && args[0] == "":
		return server, errors.New("the command after -- is empty")
	case len(args) > 0:
		server.Type, server.Command, server.Args = "stdio", args[0], args[1:]
	}
	if name == "" {
		server.Name = Unnamed
		if len(args) > 0 {
			server.Name = commandName(args[0], args[1:])
		}
	}
	return server, nil
}

// runners lists programs that run packages. If a command uses one of them, the package's name
// describes the server better than the program's name.
var runners = []string{"npx", "bunx", "uvx", "pipx", "pnpm", "yarn", "uv"}

// commandName derives a server name from a command. Usually, this is the name of the program
// without its extension. If the program runs packages, as npx does, it is the name of the package
// without its scope, its version, and parts such as "mcp-" or "-server". If the arguments contain
// no package name, it is [Unnamed].
func commandName(command string, args []string) string {
	base := filepath.Base(command)
	name := strings.TrimSuffix(base, filepath.Ext(base))
	if !slices.Contains(runners, name) {
		return name
	}
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-p", arg == "--package", arg == "--from", arg == "--python", arg == "--with":
			i++ // skip the value of the flag
		case strings.HasPrefix(arg, "-"), slices.Contains([]string{"run", "dlx", "exec", "x", "tool"}, arg):
		default:
			return packageName(arg)
		}
	}
	return Unnamed
}

func packageName(spec string) string {
	name := spec[strings.LastIndexByte(spec, '/')+1:]
	if at := strings.IndexAny(name, "@=["); at > 0 {
		name = name[:at]
	}
	for _, word := range []string{"mcp-", "server-"} {
		if rest := strings.TrimPrefix(name, word); rest != "" {
			name = rest
		}
	}
	for _, word := range []string{"-server", "-mcp"} {
		if rest := strings.TrimSuffix(name, word); rest != "" {
			name = rest
		}
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }) || name == "" {
		return Unnamed
	}
	return name
}
