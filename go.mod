module github.com/petrigate/petrigate

go 1.26
