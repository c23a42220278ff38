package dev.perdure.testing.scenarios;

class MemoryOddExceptionScenariosTest extends OddExceptionScenarios implements InMemory {}
