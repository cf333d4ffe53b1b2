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

// stdio returns a function that creates a client's server-list entry for petrigate. The entry
// contains the command to run. If the [Launch] has a URL, the entry instead begins with the given
// members, followed by the URL and the headers under the given keys.
func stdio(urlKey, headersKey string, first ...splice.Member) func(Launch) splice.Object {
	return func(l Launch) splice.Object {
		if l.URL == "" {
			return splice.Object{{Key: "command", Value: l.Command}, {Key: "args", Value: l.Args}}
		}
		return remote(l, urlKey, headersKey, first...)
	}
}

// typedStdio returns a server-list entry for petrigate, like the functions that [stdio] returns,
// but the entry also has a "type".
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
