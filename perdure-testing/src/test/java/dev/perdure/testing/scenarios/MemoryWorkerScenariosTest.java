package dev.perdure.testing.scenarios;

class MemoryWorkerScenariosTest extends WorkerScenarios implements InMemory {}
