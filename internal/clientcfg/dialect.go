package clientcfg

import "time"

// A dialect describes the syntax of a client's list of servers, apart from the names of keys.
type dialect struct {
	unit      func(n float64) time.Duration // converts a timeout
	variables *variables                    // syntax of variable references; nil: the client replaces none

	headers  func(fields map[string]any) *variables // returns the syntax of references in an entry's headers; nil: same as elsewhere
	urlIsSSE bool                                   // whether a url without a type means HTTP+SSE
	native   []string                               // values of type that mark built-in entries
}

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// zedTimeout converts seconds. Older versions of Zed used milliseconds, which it detects by their
// size.
func zedTimeout(n float64) time.Duration {
	if n >= 1000 {
		return milliseconds(n)
	}
	return seconds(n)
}
