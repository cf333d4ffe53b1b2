package upstream

import (
	"bufio"

	"github.com/petrigate/petrigate/internal/text"
)

// stderrLine is the longest part of a line on standard error that is logged.
const stderrLine = 4 << 10

// readErrors logs what the child says on its standard error, until it ends.
func (c *stdioConn) readErrors() {
	defer c.readers.Done()
	defer c.stderr.Close()
	log := newTrickle(c.host.log, "standard error")
	defer log.flush()
	r := bufio.NewReaderSize(&tail{file: c.stderr}, stderrLine)
	for within := false; ; {
		line, more, err := r.ReadLine()
		if err != nil {
			return
		}
		if !within && len(line) > 0 {
			c.host.hear("", line)
			if log.allow() {
				c.host.log.Info("upstream says", "stderr", text.Excerpt(string(line), stderrLine))
			}
		}
		within = more // the rest of a line that is too long is left out
	}
}
