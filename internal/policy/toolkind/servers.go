package toolkind

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed servers.txt
var serversText string

// A Server is what is known of a well-known server.
type Server struct {
	Name  string
	By    []string        // texts in its command, its arguments or its URL
	Like  []string        // tools by which it is known otherwise: all of them
	Kinds map[string]Kind // of its tools
	// Success has, for tools that run scripts, the condition under which a result is that of a
	// script which succeeded; "true" where the result says isError otherwise.
	Success map[string]string
	// NoHints is set where hints of the tools in Kinds say nothing.
	NoHints bool
}

// Servers are the servers of servers.txt.
var Servers = sync.OnceValue(func() []Server {
	all, err := parseServers(serversText)
	if err != nil {
		panic(err) // a test reads the file
	}
	return all
})

// parseServers reads a list of servers: a line is "server NAME", or below it "by TEXT ...", "like TOOL ...",
// "hints ignored", "success TOOL CONDITION" or "KIND TOOL ...".
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
		s.Kinds[tool] = Kind(max(k, 0)) //nolint:gosec // there are few
	}
	return k > 0
}

// Known finds a server by how it is started or reached, or else by its tools; nil: it is not
// among the known ones. The configuration is the word of its user, and counts more.
func Known(start []string, tools []string) *Server {
	all := Servers()
	for i := range all {
		for _, word := range start {
			if slices.ContainsFunc(all[i].By, func(by string) bool { return within(word, by) }) {
				return &all[i]
			}
		}
	}
	for i := range all {
		if missing := slices.ContainsFunc(all[i].Like, func(tool string) bool { return !slices.Contains(tools, tool) }); !missing && len(all[i].Like) > 0 {
			return &all[i]
		}
	}
	return nil
}

// within reports whether the text stands in the word between ends, slashes and the like.
func within(word, text string) bool {
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
