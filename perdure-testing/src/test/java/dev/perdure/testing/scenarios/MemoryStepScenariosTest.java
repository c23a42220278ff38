package dev.perdure.testing.scenarios;

class MemoryStepScenariosTest extends StepScenarios implements InMemory {}
