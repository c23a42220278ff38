package dev.perdure.testing.scenarios;

class MemoryDeployedScheduleScenariosTest extends DeployedScheduleScenarios implements InMemory {}
