package dev.perdure.testing.scenarios;

class MemoryParallelStepScenariosTest extends ParallelStepScenarios implements InMemory {}
