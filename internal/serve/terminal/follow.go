package terminal

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/control"
)

// scanInterval is the interval between scans for the sockets of new proxies.
const scanInterval = time.Second

// An update reports a change to the approvals of one proxy. It contains all approvals of the proxy,
// whether or not they have changed.
type update struct {
	client    *control.Client
	approvals []operator.ApprovalInfo
	gone      bool  // whether the proxy's process has ended; if so, approvals is empty
	err       error // error from listing the sockets; if it is not nil, all other fields are zero
}

// follow watches all proxies that have a socket in dir until ctx is done. It also watches proxies
// that start later. It sends an update whenever the approvals of a proxy change.
func follow(ctx context.Context, dir string) <-chan update {
	told := make(chan update)
	go func() {
		followed, ended := map[string]bool{}, make(chan string)
		tick := time.NewTicker(scanInterval)
		defer tick.Stop()
		for {
			paths, err := control.Sockets(dir)
			if err != nil {
				send(ctx, told, update{err: err})
				return
			}
			for _, path := range paths {
				if !followed[path] {
					followed[path] = true
					go followOne(ctx, path, told, ended)
				}
			}
			select {
			case path := <-ended:
				delete(followed, path)
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return told
}

// followOne sends an update whenever the approvals of the proxy at the given socket change. It
// returns when the proxy ends or cannot be reached. Before it returns, it sends the path of the
// socket, so that the caller can try again later.
func followOne(ctx context.Context, path string, updates chan<- update, ended chan<- string) {
	client, version := control.Dial(path), ""
	for {
		now, err := client.Changes(ctx, version)
		switch {
		case err != nil && version != "":
			send(ctx, updates, update{client: client, gone: true})
			fallthrough
		case err != nil: // the proxy does not answer, perhaps because it is still starting
			pause(ctx, scanInterval)
			send(ctx, ended, path)
			return
		case now.Version != version:
			version = now.Version
			send(ctx, updates, update{client: client, approvals: now.Approvals})
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func send[T any](ctx context.Context, whom chan<- T, what T) {
	select {
	case whom <- what:
	case <-ctx.Done():
	}
}

// A locatedApproval is an approval along with a client for a proxy that reported it.
type locatedApproval struct {
	it     operator.ApprovalInfo
	client *control.Client
}

// An overview holds the approvals of all running proxies, keyed by socket path.
type overview map[string]update

// apply records an update in the overview.
func (o overview) apply(n update) {
	if n.gone {
		delete(o, n.client.Path)
		return
	}
	o[n.client.Path] = n
}

// all returns the approvals of all proxies, keyed by approval ID. If several proxies report the
// same approval, the result contains its latest state.
func (o overview) all() map[string]locatedApproval {
	all := map[string]locatedApproval{}
	for _, n := range o {
		for _, a := range n.approvals {
			if known, ok := all[a.ID]; !ok || isLater(a, known.it) {
				all[a.ID] = locatedApproval{a, n.client}
			}
		}
	}
	return all
}

// isLater reports whether a is a later state of the approval than b.
func isLater(a, b operator.ApprovalInfo) bool {
	stage := map[operator.ApprovalState]int{operator.Pending: 0, operator.Approved: 1}
	of := func(a operator.ApprovalInfo) int {
		if n, ok := stage[a.State]; ok {
			return n
		}
		return 2
	}
	return of(a) > of(b) || of(a) == of(b) && a.Approvals > b.Approvals
}
