package toolkind

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/petrigate/petrigate/internal/list"
)

//go:embed servers.txt
var serversText string

// A Server describes a well-known server and its tools.
type Server struct {
	Name  string
	By    []string        // strings that identify the server if they occur in its command, arguments or URL
	Like  []string        // tools that together identify the server; used only if By identifies no server
	Kinds map[string]Kind // kinds of the server's tools, keyed by tool name
	// Success contains the success conditions of tools that run scripts, keyed by tool name. A
	// condition is "true" if the tool reports failures through isError.
	Success map[string]string
	// NoHints reports whether to ignore the server's hints about the tools in Kinds, because they
	// are meaningless.
	NoHints bool
}

// Servers returns the servers listed in servers.txt.
var Servers = sync.OnceValue(func() []Server {
	all, err := parseServers(serversText)
	if err != nil {
		panic(err) // cannot happen: a test parses servers.txt
	}
	return all
})

// parseServers parses a list of servers. Each server begins with a line of the form "server NAME".
// The lines after it have the form "by TEXT ...", "like TOOL ...", "hints ignored", "success TOOL
// CONDITION" or "KIND TOOL ...".
func parseServers(text string) (all []Server, err error) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if words[0] == "server" && len(words) == 2 {
			all = append(all, Server{Name: words[1], Kinds: map[string]Kind{}, Success: map[string]string{}})
			continue
		}
		if len(all) == 0 || len(words) < 2 || !all[len(all)-1].add(words[0], words[1:]) {
			return nil, fmt.Errorf("line %d of the list of servers: write server NAME, by, like, hints ignored or a kind, and what belongs to it", number)
		}
	}
	return all, nil
}

func (s *Server) add(key string, words []string) bool {
	switch key {
	case "by":
		s.By = append(s.By, words...)
		return true
	case "like":
		s.Like = append(s.Like, words...)
		return true
	case "success":
		s.Success[words[0]] = strings.Join(words[1:], " ")
		return len(words) > 1
	case "hints":
		s.NoHints = words[0] == "ignored"
		return s.NoHints
	}
	k := slices.Index(kindNames[:], key)
	for _, tool := range words {
		s.Kinds[tool] = Kind(max(k, 0)) //nolint:gosec // k is less than len(kindNames)
	}
	return k > 0
}

// FindServer identifies a well-known server. start contains the URL and the words of the command
// line. If start does not identify a server, FindServer uses the names of the tools. It returns nil
// if it finds no server.
func FindServer(start []string, tools []string) *Server {
	started := list.Find(Servers(), func(s Server) bool {
		return slices.ContainsFunc(s.By, func(by string) bool {
			return slices.ContainsFunc(start, func(word string) bool { return hasComponent(word, by) })
		})
	})
	if started != nil {
		return started
	}
	return list.Find(Servers(), func(s Server) bool {
		return len(s.Like) > 0 && !slices.ContainsFunc(s.Like, func(tool string) bool { return !slices.Contains(tools, tool) })
	})
}

// hasComponent reports whether word contains text as a whole component: between separators such as
// slashes, or at the beginning or end of word.
func hasComponent(word, text string) bool {
	for {
		at := strings.Index(word, text)
		if at < 0 {
			return false
		}
		end := at + len(text)
		if (at == 0 || strings.ContainsRune("/\\:@", rune(word[at-1]))) && (end == len(word) || strings.ContainsRune("/\\:@.=", rune(word[end]))) {
			return true
		}
		word = word[at+1:]
	}
}
