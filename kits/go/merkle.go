package svckit

import (
	"bytes"
	"crypto/sha256"
)

// hashLeaf is SHA-256(0x00 || data) of RFC 6962.
func hashLeaf(data string) []byte {
	sum := sha256.Sum256(append([]byte{0}, data...))
	return sum[:]
}

func hashNode(left, right []byte) []byte {
	sum := sha256.Sum256(bytes.Join([][]byte{{1}, left, right}, nil))
	return sum[:]
}

// rootOf returns the root over hashes of leaves: the roots of complete subtrees, joined from the smallest.
func rootOf(leaves [][]byte) []byte {
	var subtrees [][]byte
	for i, leaf := range leaves {
		// The number of complete subtrees that end at i is the number of trailing ones in i.
		for n := i; n&1 == 1; n >>= 1 {
			leaf, subtrees = hashNode(subtrees[len(subtrees)-1], leaf), subtrees[:len(subtrees)-1]
		}
		subtrees = append(subtrees, leaf)
	}
	if len(subtrees) == 0 {
		empty := sha256.Sum256(nil)
		return empty[:]
	}
	root := subtrees[len(subtrees)-1]
	for i := len(subtrees) - 2; i >= 0; i-- {
		root = hashNode(subtrees[i], root)
	}
	return root
}

// verifyInclusion is RFC 9162 §2.1.3.2. Root and size must come from a trusted source, such as a signed checkpoint.
func verifyInclusion(leaf []byte, index, size int64, path [][]byte, root []byte) bool {
	if index < 0 || index >= size || size > maxInteger || len(leaf) != sha256.Size {
		return false
	}
	for at, last := index, size-1; last > 0; at, last = at/2, last/2 {
		if at%2 == 0 && at == last {
			continue
		}
		if len(path) == 0 || len(path[0]) != sha256.Size {
			return false
		}
		if at%2 == 0 {
			leaf = hashNode(leaf, path[0])
		} else {
			leaf = hashNode(path[0], leaf)
		}
		path = path[1:]
	}
	return len(path) == 0 && bytes.Equal(leaf, root)
}
