package clientcfg

import "time"

// A dialect describes how a client writes its servers, apart from the names of keys.
type dialect struct {
	unit      func(n float64) time.Duration // unit of a timeout
	variables *variables                    // nil: the client replaces nothing

	headers  func(fields map[string]any) *variables // variables replaced in the headers of an entry; nil: the same as in other texts
	urlIsSSE bool                                   // a url without a type uses HTTP+SSE
	native   []string                               // types of built-in entries
}

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// zedTimeout converts seconds. Older versions of Zed used milliseconds.
func zedTimeout(n float64) time.Duration {
	if n >= 1000 {
		return milliseconds(n)
	}
	return seconds(n)
}
