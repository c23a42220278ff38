package dev.perdure.testing.scenarios;

class MemoryInvocationScenariosTest extends InvocationScenarios implements InMemory {}
