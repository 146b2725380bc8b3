import assert from 'node:assert/strict'
import test from 'node:test'
import { greet, greetedAgo } from '../src/greet.js'

test('greets by name', () => {
  assert.equal(greet('Ada'), 'Hello, Ada!')
})

test('says how long ago', () => {
  assert.equal(greetedAgo(90000), '2m ago')
})
