package clientcfg

import "github.com/petrigate/petrigate/internal/clientcfg/splice"

// A Launch describes how a client reaches petrigate: by running a command or by connecting to a
// URL.
type Launch struct {
	Command string
	Args    []string
	URL     string
	Headers splice.Object // headers to send to the URL
}

// stdio returns a function that creates a client's server-list entry for petrigate. If the [Launch]
// has a URL, the entry consists of the given members, the URL and any headers. Otherwise, it
// consists of the command and its arguments.
func stdio(urlKey, headersKey string, first ...splice.Member) func(Launch) splice.Object {
	return func(l Launch) splice.Object {
		if l.URL == "" {
			return splice.Object{{Key: "command", Value: l.Command}, {Key: "args", Value: l.Args}}
		}
		return remote(l, urlKey, headersKey, first...)
	}
}

// typedStdio returns a server-list entry for petrigate. The entry has a member "type", which is
// "stdio" or "http".
func typedStdio(l Launch) splice.Object {
	o := stdio("url", "headers", splice.Member{Key: "type", Value: "http"})(l)
	if l.URL == "" {
		o = append(splice.Object{{Key: "type", Value: "stdio"}}, o...)
	}
	return o
}

// remote returns a server-list entry that contains a URL.
func remote(l Launch, urlKey, headersKey string, first ...splice.Member) splice.Object {
	o := append(splice.Object{}, first...)
	o = append(o, splice.Member{Key: urlKey, Value: l.URL})
	if len(l.Headers) > 0 {
		o = append(o, splice.Member{Key: headersKey, Value: l.Headers})
	}
	return o
}
