package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// A stdioClient is a client with its own petrigate process.
type stdioClient struct {
	modern bool
	cmd    *exec.Cmd
	in     io.WriteCloser
	log    *os.File
	ended  chan struct{} // closed when its output has ended
	wrong  func(string)  // called for messages that no one has asked for

	mu      sync.Mutex // also serializes writes
	waiting map[string]chan reply
	gone    map[string]bool // canceled requests; an answer to them is optional
}

func dialStdio(ctx context.Context, p *plant, log string, modern bool, wrong func(string)) (*stdioClient, error) {
	c := &stdioClient{modern: modern, ended: make(chan struct{}), wrong: wrong, waiting: map[string]chan reply{}, gone: map[string]bool{}}
	c.cmd = exec.Command(p.options.petrigate, "serve", "--config", p.configFile())
	c.cmd.Env = p.environment()
	var err error
	if c.log, err = os.OpenFile(filepath.Join(p.options.dir, log+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, err
	}
	c.cmd.Stderr = c.log
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		lines(out, c.take)
		close(c.ended)
	}()
	if modern {
		return c, nil
	}
	if _, err := c.request(ctx, 0, "initialize", "", handshake); err != nil {
		return nil, errors.Join(fmt.Errorf("opening a session: %w", err), c.close())
	}
	return c, c.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// take passes a message to the request that waits for it.
func (c *stdioClient) take(line []byte) {
	var r reply
	if err := json.Unmarshal(line, &r); err != nil {
		c.wrong(fmt.Sprintf("not a message: %.200q", line))
		return
	}
	if r.Method != "" {
		return
	}
	id := string(r.ID)
	c.mu.Lock()
	to, gone := c.waiting[id], c.gone[id]
	delete(c.waiting, id)
	delete(c.gone, id)
	c.mu.Unlock()
	switch {
	case to != nil:
		to <- r
	case !gone:
		c.wrong(fmt.Sprintf("an answer that nobody waits for: %.200q", line))
	}
}

func (c *stdioClient) write(message string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := io.WriteString(c.in, message+"\n")
	return err
}

func (c *stdioClient) request(ctx context.Context, id int, method, _, params string) (reply, error) {
	key, answer := strconv.Itoa(id), make(chan reply, 1)
	c.mu.Lock()
	c.waiting[key] = answer
	c.mu.Unlock()
	if err := c.write(message(id, method, params, c.modern)); err != nil {
		return reply{}, err
	}
	select {
	case r := <-answer:
		return r, nil
	case <-c.ended:
		return reply{}, fmt.Errorf("%w: petrigate has ended", errWrong)
	case <-ctx.Done():
	}
	c.mu.Lock()
	if c.waiting[key] != nil {
		delete(c.waiting, key)
		c.gone[key] = true
	}
	c.mu.Unlock()
	meta := ""
	if c.modern {
		meta = fmt.Sprintf(modernMeta, id) + ","
	}
	return reply{}, errors.Join(ctx.Err(), c.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{%s"requestId":%d}}`, meta, id)))
}

// close ends petrigate as clients do, by closing its input.
func (c *stdioClient) close() error {
	defer func() { _ = c.log.Close() }()
	_ = c.in.Close()
	select {
	case <-c.ended:
	case <-time.After(patience):
		_ = c.cmd.Process.Kill()
		return errors.Join(fmt.Errorf("%w: petrigate does not end with its input", errWrong), c.cmd.Wait())
	}
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("%w: petrigate ended with %v", errWrong, err)
	}
	return nil
}
