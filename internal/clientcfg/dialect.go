package clientcfg

import "time"

// A dialect describes the syntax of a client's list of servers, except for the names of keys.
type dialect struct {
	unit      func(n float64) time.Duration // converts a number in the file to a timeout
	variables *variables                    // syntax of variable references; nil: the client replaces none

	headers  func(fields map[string]any) *variables // returns the syntax of variable references in the headers of an entry; nil: the syntax is the same as elsewhere
	urlIsSSE bool                                   // whether a "url" without a "type" means HTTP+SSE
	native   []string                               // values of the key "type" that mark built-in entries
}

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// zedTimeout converts a number of seconds. Older versions of Zed used milliseconds; zedTimeout
// recognizes such numbers by their size.
func zedTimeout(n float64) time.Duration {
	if n >= 1000 {
		return milliseconds(n)
	}
	return seconds(n)
}
